//! `gluey render`: what it leaves, and what it says where it cannot.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;

use crate::Place;

/// A picture's width, height and pixels.
fn picture(path: &Path) -> (u32, u32, Vec<u8>) {
    let mut reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width, info.height, pixels)
}

/// Width, height and number of frames of a GIF.
fn film(path: &Path) -> (u16, u16, usize) {
    let mut decoder = gif::DecodeOptions::new().read_info(File::open(path).unwrap()).unwrap();
    let mut frames = 0;
    while decoder.read_next_frame().unwrap().is_some() {
        frames += 1;
    }
    (decoder.width(), decoder.height(), frames)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A run of ten frames in the folder `run`: steps 0, 7, … 56 and 60 at times 0, 0.035, … 0.3.
fn ten_frames() -> Place {
    let place = Place::new();
    place.short("run", &[]).succeeds();
    place
}

const SMALL: &str = "--size=160x90";

#[test]
fn a_run_becomes_pictures_and_an_animation() {
    let place = ten_frames();
    let told = place.gluey(&["render", "run", SMALL]).succeeds();
    assert!(told.contains("10 frames of 160 x 90 pixels"), "{told}");
    let pictures = place.path("run/pictures");
    let files = names(&pictures);
    assert_eq!(files.len(), 11, "{files:?}");
    assert_eq!((files[0].as_str(), files[10].as_str()), ("animation.gif", "frame_00000060.png"));
    let (width, height, first) = picture(&pictures.join("frame_00000000.png"));
    assert_eq!((width, height), (160, 90));
    let (_, _, last) = picture(&pictures.join("frame_00000060.png"));
    assert!(first != last && first.iter().any(|part| *part < 60), "something is drawn, and moves");
    assert_eq!(film(&pictures.join("animation.gif")), (160, 90, 10));
}

#[test]
fn pictures_are_the_same_for_any_number_of_threads() {
    let place = ten_frames();
    for (threads, out) in [("--threads=1", "one"), ("--threads=3", "three")] {
        place.gluey(&["render", "run", SMALL, threads, "--contacts", "--colour=speed", "--out", out]).succeeds();
    }
    place.assert_same("one", "three");
}

#[test]
fn a_run_that_is_not_finished_is_drawn_as_far_as_it_came() {
    let place = Place::new();
    place.short("run", &["--until=0.1"]).succeeds();
    assert!(place.gluey(&["info", "run"]).succeeds().contains("not finished"));
    // Steps 0, 7, 14 and the last one, 20.
    let told = place.gluey(&["render", "run", SMALL]).succeeds();
    assert!(told.contains("4 frames"), "{told}");
    place.gluey(&["run", "--resume", "--out=run"]).succeeds();
    assert!(place.gluey(&["render", "run", SMALL]).succeeds().contains("10 frames"));
}

#[test]
fn frames_are_chosen_by_time_or_by_number() {
    let place = ten_frames();
    place.gluey(&["render", "run", SMALL, "--times=0.3,0.1,0.3,0.1", "--png", "--out=times"]).succeeds();
    assert_eq!(names(&place.path("times")), ["frame_00000021.png", "frame_00000060.png"]);
    place.gluey(&["render", "run", SMALL, "--every=4", "--out=some", "--gif", "--fps=10"]).succeeds();
    assert_eq!(names(&place.path("some")), ["animation.gif"]);
    assert_eq!(film(&place.path("some/animation.gif")).2, 3);
    // One picture makes no animation unless that is asked for.
    place.gluey(&["render", "run", SMALL, "--times=0", "--out=one"]).succeeds();
    assert_eq!(names(&place.path("one")), ["frame_00000000.png"]);
    place.gluey(&["render", "run", "--times=0.5"]).fails(1, &["no frame near t = 0.5", "from t = 0 to 0.3"]);
    place.gluey(&["render", "run", "--times=-1"]).fails(1, &["no frame near t = -1"]);
}

#[test]
fn options_go_before_the_scene() {
    let place = Place::new();
    let table = ["--set=picture.size=[120, 80]", "--set=picture.colour=speed", "--set=picture.contacts=true"];
    place.short("said", &table).succeeds();
    place.short("unsaid", &[]).succeeds();
    let draw = |run: &str, options: &[&str]| {
        let out = format!("{run}{}", options.len());
        place.gluey(&[&["render", run, "--times=0.2", "--out", &out], options].concat()).succeeds();
        picture(&place.path(&out).join("frame_00000042.png"))
    };
    let by_scene = draw("said", &[]);
    assert_eq!((by_scene.0, by_scene.1), (120, 80));
    assert!(by_scene == draw("unsaid", &["--size=120x80", "--colour=speed", "--contacts"]));
    assert!(by_scene != draw("said", &["--contacts=false"]));
    assert_eq!(draw("said", &["--size=64x48", "--colour=group"]).0, 64);
}

#[test]
fn every_kind_of_picture_can_be_drawn() {
    let place = ten_frames();
    let mut seen = Vec::new();
    for options in [
        &["--colour=group"][..],
        &["--colour=speed"],
        &["--colour=speed", "--range=0,0.1"],
        &["--colour=radius"],
        &["--colour=gamma"],
        &["--colour=vy"],
        &["--contacts"],
        &["--contacts", "--gamma-scale=100"],
        &["--obstacles=hidden"],
        &["--background=black"],
        &["--zoom=2"],
        &["--zoom=2", "--look-at=-0.1,0.1"],
        &["--scale=0.5"],
    ] {
        let base = ["render", "run", "--size=200x150", "--times=0.3", "--png", "--out=one"];
        place.gluey(&[&base, options].concat()).succeeds();
        let found = picture(&place.path("one/frame_00000060.png"));
        assert!(!seen.contains(&found), "{options:?} changes nothing");
        seen.push(found);
    }
}

#[test]
fn montages_show_times_and_runs_side_by_side() {
    let place = ten_frames();
    place.short("dry", &["--set=contact.law=inelastic"]).succeeds();
    place.gluey(&["render", "run", "--montage=one.png", "--size=100x80", "--times=0,0.1,0.2,0.3"]).succeeds();
    let (width, height, _) = picture(&place.path("one.png"));
    assert!((200..350).contains(&width) && (160..240).contains(&height), "two by two: {width} x {height}");
    let both = ["render", "run", "dry", "--montage=a/both.png", "--size=100x80", "--labels=gluey,dry"];
    let told = place.gluey(&[&both[..], &["--times=0,0.1,0.2"]].concat()).succeeds();
    let (width, height, _) = picture(&place.path("a/both.png"));
    assert!((200..420).contains(&width) && (240..340).contains(&height), "two columns, three rows: {width} x {height}");
    assert_eq!(told, format!("wrote a/both.png, {width} x {height} pixels\n"));
    place.gluey(&["render", "run", "dry", "--montage=auto.png"]).succeeds();
}

#[test]
fn what_makes_no_sense_is_told() {
    let place = ten_frames();
    place.gluey(&["render"]).fails(2, &["RUN"]);
    place.gluey(&["render", "run", "--colour=sped"]).fails(2, &["sped", "speed"]);
    place.gluey(&["render", "run", "--size=big"]).fails(2, &["WIDTHxHEIGHT"]);
    place.gluey(&["render", "run", "--size=1x1"]).fails(2, &["16 to 8192 pixels"]);
    place.gluey(&["render", "run", "--range=2,1"]).fails(2, &["the lesser comes first"]);
    place.gluey(&["render", "run", "--background=mauve"]).fails(2, &["`mauve` is no colour", "#rrggbb"]);
    place.gluey(&["render", "run", "--zoom=0"]).fails(2, &["positive"]);
    place.gluey(&["render", "run", "--every=0"]).fails(2, &["--every"]);
    place.gluey(&["render", "run", "--times=soon"]).fails(2, &["finite number"]);
    place.gluey(&["render", "run", "--camera=1,1,1"]).fails(2, &["--camera and --up are for 3D runs"]);
    place.gluey(&["render", "run", "--camera=1,1"]).fails(2, &["three components"]);
    place.gluey(&["render", "run", "run"]).fails(2, &["2 runs are named", "--montage"]);
    place.gluey(&["render", "run", "--montage=m.png", "--labels=a,b"]).fails(2, &["2 labels for 1 run"]);
    assert!(!place.path("run/pictures").exists());
}

#[test]
fn what_is_no_run_is_told() {
    let place = Place::new();
    place.gluey(&["render", "."]).fails(1, &[". is no run folder: it has no manifest.toml"]);
    place.gluey(&["render", "nowhere"]).fails(1, &["nowhere", "there is no such file or folder"]);
    place.short("xyz", &["--until=0.05", "--set=output.formats=[\"xyz\"]"]).succeeds();
    place.gluey(&["render", "xyz"]).fails(1, &["no frames of the kind that gluey reads", "output.formats"]);
    place.short("run", &["--until=0.05"]).succeeds();
    fs::remove_file(place.path("run/particles.pvd")).unwrap();
    place.gluey(&["render", "run"]).fails(1, &["run has no frames yet"]);
}

#[test]
fn a_frame_cut_short_is_named_and_nothing_is_written() {
    let place = ten_frames();
    let frame = place.path("run/frames/contacts_00000021.vtp");
    let whole = fs::read(&frame).unwrap();
    fs::write(&frame, &whole[..whole.len() - 100]).unwrap();
    place.gluey(&["render", "run", SMALL]).fails(1, &["contacts_00000021.vtp is truncated"]);
    assert!(!place.path("run/pictures").exists());
    // The other frames can be drawn.
    place.gluey(&["render", "run", SMALL, "--times=0,0.3", "--png"]).succeeds();
    fs::remove_file(&frame).unwrap();
    place.gluey(&["render", "run", SMALL]).fails(1, &["cannot read", "contacts_00000021.vtp", "there is no such file"]);
}

#[test]
fn a_scene_whose_files_have_gone_is_drawn_from_its_frames() {
    let place = Place::new();
    place.write(
        "part.stl",
        "solid part\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
         facet normal 0 0 1\nouter loop\nvertex 1 0 0\nvertex 1 1 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid part\n",
    );
    place.write(
        "mesh.toml",
        "time = { dt = 0.01, until = 0.05 }\nenvironment.gravity = [0, 0, -1]\n\
         particles = [{ mass = 1, source.list = [{ position = [0.5, 0.5, 0.2], radius = 0.1 }] }]\n\
         obstacle = [{ name = 'part', shape.mesh = { path = 'part.stl' } }]\n",
    );
    place.gluey(&["run", "mesh.toml", "--out=run"]).succeeds();
    let told = place.gluey(&["render", "run", SMALL, "--times=0", "--out=with"]).succeeds();
    assert!(!told.contains("note:"), "{told}");
    fs::remove_file(place.path("part.stl")).unwrap();
    let told = place.gluey(&["render", "run", SMALL, "--times=0", "--out=without"]).succeeds();
    assert!(told.contains("note: the scene of run can no longer be read") && told.contains("part.stl"), "{told}");
    let (_, _, pixels) = picture(&place.path("without/frame_00000000.png"));
    let (_, _, bare) = {
        place.gluey(&["render", "run", SMALL, "--times=0", "--out=bare", "--obstacles=hidden"]).succeeds();
        picture(&place.path("bare/frame_00000000.png"))
    };
    assert!(pixels != bare, "the obstacle of the frame is drawn");
}

#[test]
fn runs_in_space_have_a_camera() {
    let place = Place::new();
    let scene = "time = { dt = 0.01, until = 0.02 }\n\
        particles = [{ mass = 1, source.list = [{ position = [0, 0, 1], radius = 0.5 }, { position = [2, 0, 1], radius = 0.5 }] }]\n\
        obstacle = [{ name = 'floor', shape.half-space = { point = [0, 0, 0], normal = [0, 0, 1] } }]\n";
    place.write("two.toml", scene);
    place.gluey(&["run", "two.toml", "--out=run"]).succeeds();
    let mut seen = Vec::new();
    for options in [&[][..], &["--camera=0,-1,0"], &["--camera=-1,-1,0.3"], &["--camera=0,0,-1"], &["--up=0,1,0"]] {
        place.gluey(&[&["render", "run", SMALL, "--times=0", "--out=one"], options].concat()).succeeds();
        let found = picture(&place.path("one/frame_00000000.png"));
        assert!(!seen.contains(&found), "{options:?} changes nothing");
        seen.push(found);
    }
    place.short("flat", &["--until=0.05"]).succeeds();
    place.gluey(&["render", "run", "flat", "--montage=m.png"]).fails(1, &["run is a run in 3D, flat in 2D"]);
    place.write("bad.toml", &format!("picture = {{ zom = 2 }}\n{scene}"));
    place.gluey(&["check", "bad.toml"]).fails(2, &["unknown key `zom`", "did you mean `zoom`?"]);
    place.write("flat.toml", &format!("dimension = 2\npicture.camera = [0, 0, 1]\n{}", scene.replace(", 1]", "]")));
    place.gluey(&["check", "flat.toml"]).fails(2, &["`camera` is for 3D scenes"]);
}

#[cfg(unix)]
#[test]
fn films_are_made_by_ffmpeg_where_it_is() {
    use std::os::unix::fs::PermissionsExt;

    let place = ten_frames();
    let with_path = |path: &Path, arguments: &[&str]| {
        let output = place.command(arguments).env("PATH", path).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let empty = place.path("empty");
    fs::create_dir(&empty).unwrap();
    let (code, told) = with_path(&empty, &["render", "run", SMALL, "--mp4"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("there is no program `ffmpeg`") && told.contains("GIF"), "{told}");

    // A stand-in that keeps what it is given, after its arguments, in its last one.
    let tools = place.path("tools");
    let program = |text: &str| {
        fs::create_dir_all(&tools).unwrap();
        fs::write(tools.join("ffmpeg"), text).unwrap();
        fs::set_permissions(tools.join("ffmpeg"), fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("#!/bin/sh\nfor last; do :; done\necho \"$@\" > \"$last\"\n/bin/cat >> \"$last\"\n");
    let (code, told) = with_path(&tools, &["render", "run", SMALL, "--mp4", "--fps=30", "--out=film"]);
    assert_eq!(code, Some(0), "{told}");
    assert_eq!(names(&place.path("film")), ["animation.mp4"]);
    let bytes = fs::read(place.path("film/animation.mp4")).unwrap();
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
    let arguments = String::from_utf8_lossy(&bytes[..end]);
    assert!(arguments.contains("-video_size 160x90 -framerate 30"), "{arguments}");
    assert_eq!(bytes.len() - end - 1, 10 * 160 * 90 * 3, "all frames were handed over");

    program("#!/bin/sh\necho 'no such codec' >&2\nexit 3\n");
    let (code, told) = with_path(&tools, &["render", "run", SMALL, "--mp4", "--out=none"]);
    assert_eq!(code, Some(1));
    assert!(told.contains("ffmpeg could not make") && told.contains("no such codec"), "{told}");
    assert_eq!(names(&place.path("none")), [""; 0], "nothing is left of it");
}
