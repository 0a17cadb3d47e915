//! Runs of a made-up motion: stopped, resumed, recorded with other frames, on bad disks.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use glam::DVec3;

use super::*;
use crate::contact::{Contact, ContactGeometry, Pair};
use crate::format::{Format, Formats};
use crate::simulation::{Load, State, StepReport};

const LAST: u64 = 10;

/// What a test run writes: a row every step, and these.
#[derive(Clone, Copy)]
struct Plan {
    frame_every: u64,
    checkpoint_every: u64,
    obstacle_moves: bool,
}

const PLAN: Plan = Plan { frame_every: 2, checkpoint_every: 4, obstacle_moves: true };

fn info() -> RunInfo {
    RunInfo {
        scene_text: "it = 'a scene'\n".into(),
        scene_name: "made up".into(),
        seed: 7,
        dimension: 3,
        dt: 0.1,
        groups: vec![Group { name: "sand".into(), colour: [200, 100, 0] }],
        obstacle_names: vec!["floor".into()],
        openings: true,
        measures: vec!["bed_fraction".into()],
    }
}

fn state(step: u64) -> State {
    let mut state = State { step, ..State::default() };
    for i in 0..4 {
        state.particles.push(DVec3::new(f64::from(i), step as f64 / 3.0, 0.0), 0.5, 1.0 + f64::from(i));
    }
    state.particles.velocity.fill(DVec3::Y / 7.0);
    state.contacts = (0..step % 3).map(|i| touching(i as u32)).collect();
    state
}

fn touching(i: u32) -> Contact {
    let pair = if i == 0 { Pair::obstacle(0, 0, 2) } else { Pair::particles(i, i + 1) };
    Contact { pair, gamma: -f64::from(i), impulse: 0.1 }
}

fn report(step: u64) -> StepReport {
    let load = Load { force: DVec3::splat(step as f64 / 9.0), torque: DVec3::Z };
    StepReport {
        substeps: 1,
        sweeps: step * 3,
        least_gap: 1.0 / (step + 1) as f64,
        loads: vec![load],
        ..Default::default()
    }
}

fn record(recorder: &mut Recorder, plan: Plan, step: u64) -> Result<(), TrajectoryError> {
    let (state, report) = (state(step), report(step));
    let (time, particles) = (step as f64 * info().dt, &state.particles);
    let measures = &[step as f64 / 7.0];
    let (kinetic_energy, potential_energy, report) = (0.5, -1.0, &report);
    let row = Observation { step, time, particles, kinetic_energy, potential_energy, report, measures };
    recorder.record_step(&row)?;
    if step.is_multiple_of(plan.frame_every) {
        let shift = if plan.obstacle_moves { DVec3::Y * time } else { DVec3::ZERO };
        let floor = ObstacleSurface {
            points: [DVec3::ZERO, DVec3::X, DVec3::Z].map(|corner| corner + shift).to_vec(),
            triangles: vec![[0, 1, 2]],
            lines: Vec::new(),
            moving: plan.obstacle_moves,
        };
        let geometry = |contact: &Contact| ContactGeometry { contact: *contact, gap: 0.0, normal: DVec3::X };
        let contacts: Vec<_> = state.contacts.iter().map(geometry).collect();
        recorder.record_frame(&Frame {
            step,
            time,
            particles,
            contacts: &contacts,
            obstacles: &[floor],
            clump: &[],
        })?;
    }
    recorder.record_timing(&Timing { step, time, ..Timing::default() })?;
    if step.is_multiple_of(plan.checkpoint_every) || step == LAST {
        recorder.checkpoint(&state, report)?;
    }
    Ok(())
}

fn run(folder: &Path, plan: Plan, last: u64) {
    let mut recorder = Recorder::create(folder, &info(), Formats::ALL, IfPresent::Refuse).unwrap();
    recorder.record_host(&[("name", "here".into())]).unwrap();
    for step in 0..=last {
        record(&mut recorder, plan, step).unwrap();
    }
}

fn go_on(folder: &Path, plan: Plan, last: u64) {
    let checkpoint = Checkpoint::read(&checkpoint_path(folder)).unwrap();
    assert_eq!(checkpoint.state, state(checkpoint.state.step));
    let mut recorder = Recorder::resume(folder, &checkpoint).unwrap();
    for step in checkpoint.state.step + 1..=last {
        record(&mut recorder, plan, step).unwrap();
    }
}

/// All files below a folder with their bytes, but for those that hold wall times and hosts.
fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().is_dir() {
            files.extend(content(&entry.path()).into_iter().map(|(inner, bytes)| (format!("{name}/{inner}"), bytes)));
        } else if name != "timings.csv" && name != "host.toml" {
            files.insert(name, fs::read(entry.path()).unwrap());
        }
    }
    files
}

fn assert_same(stopped: &Path, whole: &Path) {
    let (stopped, whole) = (content(stopped), content(whole));
    assert!(stopped.keys().eq(whole.keys()), "{:?} {:?}", stopped.keys(), whole.keys());
    for (name, bytes) in &whole {
        assert!(stopped[name] == *bytes, "{name} differs");
    }
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

#[test]
fn stopped_at_any_step_and_resumed_is_the_same_as_never_stopped() {
    for plan in [PLAN, Plan { obstacle_moves: false, ..PLAN }] {
        let whole = tempfile::tempdir().unwrap();
        run(whole.path(), plan, LAST);
        assert_eq!(content(whole.path()).len(), if plan.obstacle_moves { 28 } else { 23 });
        for stop in 0..LAST {
            let stopped = tempfile::tempdir().unwrap();
            run(stopped.path(), plan, stop);
            // What a process that is killed may leave: a row, a frame and files half-written, a frame not yet listed.
            let path = |name: &str| stopped.path().join(name);
            append(&path("series.csv"), b"11,1.1000");
            append(&path("trajectory.xyz"), b"4\nProperties=species:S");
            append(&path("frames.bin"), b"GFRM\x01\0\0\0half");
            append(&path("timings.csv"), b"11,");
            fs::write(path(".gluey-AbCdEf"), "half a check").unwrap();
            fs::write(path("frames/.gluey-123456"), "half a fra").unwrap();
            fs::write(path("frames/particles_00000999.vtp"), "a frame of later").unwrap();
            go_on(stopped.path(), plan, LAST);
            assert_same(stopped.path(), whole.path());
        }
    }
}

/// A run that is killed while it writes its manifest leaves a folder that holds no run, and half a file in it.
#[test]
fn what_a_run_left_that_was_killed_before_it_had_a_manifest_is_removed_by_the_next() {
    let (killed, whole) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(killed.path().join(".gluey-KcGxS5"), "half a mani").unwrap();
    run(killed.path(), PLAN, LAST);
    run(whole.path(), PLAN, LAST);
    assert_same(killed.path(), whole.path());
}

/// The other process of the next test.
#[test]
#[ignore = "does nothing by itself"]
fn write_a_run_and_be_killed() {
    if let Some(folder) = std::env::var_os("GLUEY_RUN_TO_KILL") {
        run(Path::new(&folder), PLAN, LAST_OF_KILLED);
    }
}

const LAST_OF_KILLED: u64 = 400;

#[test]
fn killed_at_any_moment_and_resumed_is_the_same_as_never_stopped() {
    let whole = tempfile::tempdir().unwrap();
    run(whole.path(), PLAN, LAST_OF_KILLED);
    for rows in [1, 17, 60] {
        let killed = tempfile::tempdir().unwrap();
        let mut process = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "trajectory::resume_tests::write_a_run_and_be_killed"])
            .env("GLUEY_RUN_TO_KILL", killed.path())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let checkpoint = checkpoint_path(killed.path());
        let series = || fs::read_to_string(killed.path().join("series.csv")).unwrap_or_default();
        let enough = || checkpoint.exists() && series().lines().count() > rows;
        // On a busy machine the run may end by itself before it is killed: nothing is left to do then.
        while !enough() && process.try_wait().unwrap().is_none() {}
        process.kill().unwrap();
        process.wait().unwrap();
        go_on(killed.path(), PLAN, LAST_OF_KILLED);
        assert_same(killed.path(), whole.path());
    }
}

#[test]
fn resuming_leaves_files_alone_that_are_not_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), PLAN, 6);
    let notes = ["notes.txt", "frames/particles_best.vtp", "frames/particles_7.vtp", "frames/movie.mp4"];
    for name in notes {
        fs::write(folder.path().join(name), "mine").unwrap();
    }
    go_on(folder.path(), PLAN, LAST);
    drop(Recorder::create(folder.path(), &info(), Formats::ALL, IfPresent::Replace).unwrap());
    let left = content(folder.path());
    assert!(notes.iter().all(|name| left[*name] == b"mine"));
    assert_eq!(
        left.len(),
        notes.len() + 5,
        "manifest, series, xyz, compact frames and lock are new: {:?}",
        left.keys()
    );
}

#[test]
fn the_number_of_frames_changes_no_byte_of_the_series_nor_of_a_frame() {
    let (few, many) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(few.path(), Plan { frame_every: 4, ..PLAN }, LAST);
    run(many.path(), Plan { frame_every: 1, ..PLAN }, LAST);
    let (few_files, many_files) = (content(few.path()), content(many.path()));
    let same = |name: &String| name.starts_with("frames/") || name == "series.csv" || name == "manifest.toml";
    assert!(few_files.iter().filter(|(name, _)| same(name)).all(|(name, bytes)| many_files[name] == *bytes));
    let read = |folder: &tempfile::TempDir| Checkpoint::read(&checkpoint_path(folder.path())).unwrap().state;
    assert_eq!(read(&few), read(&many));
}

#[test]
fn resuming_from_an_older_copy_of_the_checkpoint_survives_being_stopped_again() {
    let (whole, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(whole.path(), PLAN, LAST);
    run(stopped.path(), PLAN, 5);
    let older = Checkpoint::read(&checkpoint_path(stopped.path())).unwrap();
    go_on(stopped.path(), PLAN, LAST);
    drop(Recorder::resume(stopped.path(), &older).unwrap());
    go_on(stopped.path(), PLAN, LAST);
    assert_same(stopped.path(), whole.path());
}

#[test]
fn a_lost_part_of_a_file_is_named_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), PLAN, 6);
    let checkpoint = Checkpoint::read(&checkpoint_path(folder.path())).unwrap();
    let xyz = folder.path().join("trajectory.xyz");
    fs::write(&xyz, "short").unwrap();
    let before = content(folder.path());
    let error = Recorder::resume(folder.path(), &checkpoint).unwrap_err();
    let expected = checkpoint.progress.grown[&Format::Xyz].bytes;
    let told = format!("{} has 5 bytes, the checkpoint was written when it had {expected}", xyz.display());
    assert!(error.to_string().contains(&told), "{error}");
    assert_eq!(content(folder.path()), before);
}

const GROWING: [&str; 3] = ["series.csv", "trajectory.xyz", "frames.bin"];

#[test]
fn a_file_that_is_removed_replaced_or_cut_while_a_run_goes_on_ends_it() {
    type Spoil = fn(&Path);
    let spoil: [(Spoil, &str); 4] = [
        (|path| fs::remove_file(path).unwrap(), "was removed or moved while the run was writing to it"),
        (
            |path| {
                fs::rename(path, path.with_extension("old")).unwrap();
                fs::copy(path.with_extension("old"), path).map(drop).unwrap();
            },
            "was replaced by another file",
        ),
        (|path| OpenOptions::new().write(true).open(path).unwrap().set_len(3).unwrap(), "it has 3 bytes instead of"),
        (|path| append(path, b"mine"), "was changed by someone else"),
    ];
    for name in GROWING {
        for (spoil, what) in spoil {
            let folder = tempfile::tempdir().unwrap();
            let mut recorder = Recorder::create(folder.path(), &info(), Formats::ALL, IfPresent::Refuse).unwrap();
            (0..=4).for_each(|step| record(&mut recorder, PLAN, step).unwrap());
            let before = fs::read(checkpoint_path(folder.path())).unwrap();
            spoil(&folder.path().join(name));
            let frame = state(6);
            let particles = &frame.particles;
            let frame = Frame { step: 6, time: 0.6, particles, contacts: &[], obstacles: &[], clump: &[] };
            let told = [
                recorder.check_places().unwrap_err(),
                recorder.record_frame(&frame).unwrap_err(),
                recorder.checkpoint(&state(6), &report(6)).unwrap_err(),
            ];
            for error in told {
                assert!(error.to_string().contains(what) && error.to_string().contains(name), "{error}");
            }
            assert_eq!(fs::read(checkpoint_path(folder.path())).unwrap(), before, "the checkpoint is still of use");
        }
    }
}

#[test]
fn a_flipped_bit_in_what_was_written_before_is_noticed_and_nothing_is_touched() {
    for name in GROWING {
        let folder = tempfile::tempdir().unwrap();
        run(folder.path(), PLAN, 6);
        let path = folder.path().join(name);
        let mut bytes = fs::read(&path).unwrap();
        bytes[100] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let before = content(folder.path());
        let checkpoint = Checkpoint::read(&checkpoint_path(folder.path())).unwrap();
        let error = Recorder::resume(folder.path(), &checkpoint).unwrap_err();
        assert!(matches!(&error, TrajectoryError::Differs { path, .. } if path.ends_with(name)), "{error}");
        assert_eq!(content(folder.path()), before);
        bytes[100] ^= 1;
        fs::write(&path, &bytes).unwrap();
        go_on(folder.path(), PLAN, LAST);
    }
}

#[test]
fn a_file_is_summed_up_across_stops_as_in_one_go() {
    let (whole, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(whole.path(), PLAN, LAST);
    run(stopped.path(), PLAN, 5);
    (6..=LAST).for_each(|last| go_on(stopped.path(), PLAN, last));
    let progress = |folder: &Path| Checkpoint::read(&checkpoint_path(folder)).unwrap().progress;
    assert_eq!(progress(stopped.path()), progress(whole.path()));
    let series = fs::read(whole.path().join("series.csv")).unwrap();
    let grown = Grown { bytes: series.len() as u64, checksum: Some(crc32fast::hash(&series)) };
    assert_eq!(progress(whole.path()).series, grown);
}

#[test]
fn a_checkpoint_without_checksums_leads_to_the_same_bytes() {
    let (whole, stopped) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(whole.path(), PLAN, LAST);
    run(stopped.path(), PLAN, 9);
    let mut checkpoint = Checkpoint::read(&checkpoint_path(stopped.path())).unwrap();
    let Progress { series, grown, .. } = &mut checkpoint.progress;
    series.checksum = None;
    let xyz = Grown { checksum: None, ..grown[&Format::Xyz] };
    *grown = [(Format::Xyz, xyz)].into();
    drop(Recorder::resume(stopped.path(), &checkpoint).unwrap());
    go_on(stopped.path(), PLAN, LAST);
    assert_same(stopped.path(), whole.path());
}

/// Stopped after step 9 with checkpoints of steps 4 and 8, goes on after the last checkpoint, or something that it counts
/// on, was spoiled.
fn spoiled(spoil: impl Fn(&Path)) -> (tempfile::TempDir, Option<TrajectoryError>) {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), PLAN, 9);
    spoil(folder.path());
    let resume = |checkpoint: Checkpoint| {
        Recorder::resume(folder.path(), &checkpoint).map(|recorder| (recorder, checkpoint.state.step))
    };
    let ((mut recorder, step), trouble) =
        Checkpoint::latest_for(folder.path(), resume, |error: &TrajectoryError| error.is_damage()).unwrap();
    assert_eq!(step, if trouble.is_some() { 4 } else { 8 });
    (step + 1..=LAST).for_each(|step| record(&mut recorder, PLAN, step).unwrap());
    (folder, trouble)
}

#[test]
fn where_the_last_checkpoint_is_damaged_the_one_before_leads_to_the_same_bytes() {
    let whole = tempfile::tempdir().unwrap();
    run(whole.path(), PLAN, LAST);
    let cut = |path: &Path| OpenOptions::new().write(true).open(path).unwrap().set_len(50).unwrap();
    let flip_last = |path: &Path| {
        let mut bytes = fs::read(path).unwrap();
        let held = Checkpoint::read(&checkpoint_path(path.parent().unwrap())).unwrap().progress.series.bytes;
        bytes[held as usize - 1] ^= 1;
        fs::write(path, bytes).unwrap();
    };
    let spoilings: [&dyn Fn(&Path); 5] = [
        &|_| {},
        &|folder| cut(&checkpoint_path(folder)),
        &|folder| fs::remove_file(checkpoint_path(folder)).unwrap(),
        &|folder| fs::write(checkpoint_path(folder), "something else").unwrap(),
        &|folder| flip_last(&folder.join("series.csv")),
    ];
    for (k, spoil) in spoilings.into_iter().enumerate() {
        let (folder, trouble) = spoiled(spoil);
        assert_eq!(trouble.is_some(), k > 0);
        assert_same(folder.path(), whole.path());
    }
}

#[test]
fn where_both_checkpoints_are_damaged_the_last_is_named_and_nothing_is_touched() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), PLAN, 9);
    for path in [checkpoint_path(folder.path()), previous_checkpoint_path(folder.path())] {
        fs::write(path, "neither").unwrap();
    }
    let before = content(folder.path());
    let error = Checkpoint::latest(folder.path()).unwrap_err();
    assert!(error.to_string().contains("checkpoint.gluey is not a gluey checkpoint"), "{error}");
    assert_eq!(content(folder.path()), before);
}

#[test]
fn only_checkpoints_of_the_plan_are_kept_as_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), &info(), Formats::ALL, IfPresent::Refuse).unwrap();
    recorder.keep_multiples_of(4.try_into().unwrap());
    let mut save = |step: u64| {
        recorder.checkpoint(&state(step), &report(step)).unwrap();
        let previous = Checkpoint::read(&previous_checkpoint_path(folder.path())).ok();
        previous.map(|previous| previous.state.step)
    };
    let seen: Vec<_> = [0, 0, 4, 4, 5, 7, 8, 10, 12].map(&mut save).to_vec();
    assert_eq!(seen, [None, None, Some(0), Some(0), Some(4), Some(4), Some(4), Some(8), Some(8)]);
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), PLAN, 6);
    let mut checkpoint = Checkpoint::read(&checkpoint_path(folder.path())).unwrap();
    checkpoint.fingerprint += 1;
    assert!(matches!(Recorder::resume(folder.path(), &checkpoint), Err(TrajectoryError::OtherRun { .. })));
}

#[test]
fn a_run_is_neither_overwritten_nor_written_twice_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let create = |if_present| Recorder::create(folder.path(), &info(), Formats::ALL, if_present);
    let recorder = create(IfPresent::Refuse).unwrap();
    assert!(matches!(create(IfPresent::Replace), Err(TrajectoryError::InUse { .. })));
    drop(recorder);
    assert!(matches!(create(IfPresent::Refuse), Err(TrajectoryError::HoldsRun { .. })));
    create(IfPresent::Replace).unwrap();
}

#[test]
fn wrong_records_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), &info(), Formats::ALL, IfPresent::Refuse).unwrap();
    record(&mut recorder, PLAN, 4).unwrap();
    let before = content(folder.path());
    let state = state(4);
    let particles = &state.particles;
    let again = Frame { step: 4, time: 0.4, particles, contacts: &[], obstacles: &[], clump: &[] };
    assert!(matches!(recorder.record_frame(&again), Err(TrajectoryError::FrameOrder { step: 4, last: 4, .. })));
    let two_loads = StepReport { loads: vec![Load::default(); 2], ..StepReport::default() };
    let row = Observation {
        step: 5,
        time: 0.5,
        particles,
        kinetic_energy: 0.5,
        potential_energy: 0.0,
        report: &two_loads,
        measures: &[0.5],
    };
    assert!(matches!(recorder.record_step(&row), Err(TrajectoryError::Loads { expected: 1, found: 2, .. })));
    let row = Observation { report: &report(5), measures: &[], ..row };
    assert!(matches!(recorder.record_step(&row), Err(TrajectoryError::Measures { expected: 1, found: 0, .. })));
    assert_eq!(content(folder.path()), before);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    let below = file.join("run");
    let error = Recorder::create(&below, &info(), Formats::ALL, IfPresent::Refuse).unwrap_err();
    let told = format!("cannot create {}: a part of this path is a file, not a folder", below.display());
    assert_eq!(error.to_string(), told);
    let error = Recorder::create(&file, &info(), Formats::ALL, IfPresent::Refuse).unwrap_err();
    assert_eq!(error.to_string(), format!("cannot create {}: a file of this name is in the way", file.display()));
}

/// A frame whose last file finds the disk full can be tried again: no file grows twice, no frame is counted twice.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_the_frame_can_be_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::create(folder.path(), &info(), Formats::ALL, IfPresent::Refuse).unwrap();
    recorder.checkpoint(&state(0), &report(0)).unwrap();
    drop(recorder);
    let xyz = folder.path().join("trajectory.xyz");
    fs::remove_file(&xyz).unwrap();
    std::os::unix::fs::symlink("/dev/full", &xyz).unwrap();
    let checkpoint = Checkpoint::read(&checkpoint_path(folder.path())).unwrap();
    let mut recorder = Recorder::resume(folder.path(), &checkpoint).unwrap();
    let still = state(2);
    let frame = Frame { step: 2, time: 0.2, particles: &still.particles, contacts: &[], obstacles: &[], clump: &[] };
    for _ in 0..2 {
        let error = recorder.record_frame(&frame).unwrap_err();
        assert!(error.is_disk_full());
        assert_eq!(error.to_string(), format!("cannot write {}: the disk is full", xyz.display()));
        assert!(recorder.frames().is_empty());
    }
}

#[test]
fn a_run_is_summed_up_even_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let error = RunSummary::read(folder.path()).unwrap_err();
    assert_eq!(error.to_string(), format!("{} is no run folder: it has no manifest.toml", folder.path().display()));
    let error = RunSummary::read(&folder.path().join("nowhere")).unwrap_err();
    assert!(error.to_string().ends_with("there is no such file or folder"), "{error}");

    let recorder = Recorder::create(folder.path(), &info(), Formats::ALL, IfPresent::Refuse).unwrap();
    let summary = RunSummary::read(folder.path()).unwrap();
    assert_eq!((summary.rows, summary.frames, summary.value("time")), (0, 0, None));
    assert!(matches!(summary.checkpoint, CheckpointStatus::Missing));
    drop(recorder);

    fs::remove_dir_all(folder.path()).unwrap();
    run(folder.path(), PLAN, 6);
    append(&folder.path().join("series.csv"), b"7,7.0");
    let summary = RunSummary::read(folder.path()).unwrap();
    assert_eq!(summary.manifest.info, info());
    assert_eq!((summary.rows, summary.frames), (7, 4));
    assert_eq!(summary.value("step"), Some(6.0));
    assert_eq!(summary.value("floor_tz"), Some(1.0));
    assert!(matches!(summary.checkpoint, CheckpointStatus::Good(checkpoint) if checkpoint.state.step == 4));

    fs::write(checkpoint_path(folder.path()), "something else").unwrap();
    let summary = RunSummary::read(folder.path()).unwrap();
    let trouble = TrajectoryError::NotACheckpoint { path: checkpoint_path(folder.path()) }.to_string();
    assert!(
        matches!(&summary.checkpoint, CheckpointStatus::Previous(_, error) if error.to_string() == trouble),
        "{:?}",
        summary.checkpoint
    );
    assert_eq!(summary.checkpoint.usable().map(|checkpoint| checkpoint.state.step), Some(0));
    fs::remove_file(previous_checkpoint_path(folder.path())).unwrap();
    let summary = RunSummary::read(folder.path()).unwrap();
    assert!(matches!(summary.checkpoint, CheckpointStatus::Bad(TrajectoryError::NotACheckpoint { .. })));
}

#[test]
fn frames_are_counted_without_vtk_too() {
    let folder = tempfile::tempdir().unwrap();
    let only_xyz = Formats::from_iter([Format::Xyz]);
    let mut recorder = Recorder::create(folder.path(), &info(), only_xyz, IfPresent::Refuse).unwrap();
    (0..=6).for_each(|step| record(&mut recorder, PLAN, step).unwrap());
    assert_eq!(RunSummary::read(folder.path()).unwrap().frames, 4);
    assert!(!folder.path().join("frames").exists());
}

#[test]
fn every_start_notes_its_host() {
    let folder = tempfile::tempdir().unwrap();
    run(folder.path(), PLAN, 6);
    let checkpoint = Checkpoint::read(&checkpoint_path(folder.path())).unwrap();
    let recorder = Recorder::resume(folder.path(), &checkpoint).unwrap();
    recorder.record_host(&[("name", "th\"ere".into()), ("threads", "2".into())]).unwrap();
    let text = fs::read_to_string(folder.path().join("host.toml")).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    let starts = table["start"].as_array().unwrap();
    assert_eq!(starts.len(), 2);
    assert_eq!(starts[0]["name"].as_str(), Some("here"));
    assert_eq!(starts[1]["name"].as_str(), Some("th\"ere"));
}
