//! Two ways to write a file that survive being stopped: whole and renamed into place, or appended to and cut back.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;

use super::error::Loss;
use super::{Grown, TrajectoryError};

/// Names of files being written start with this, so that a resumed run can remove what a killed one left.
const TEMPORARY: &str = ".gluey-";
/// Bytes that are read at a time.
const PIECE: usize = 1 << 18;

/// When a file that was renamed into place must have reached the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Durable {
    /// Before the call returns.
    Now,
    /// Later, by [`sync`]: waiting for the disk once per checkpoint is enough.
    Later,
}

/// Writes a whole file through `fill`: readers see the old content or the new one, never a part, and an error leaves
/// the old one.
pub(super) fn write_whole(
    path: &Path,
    durable: Durable,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), TrajectoryError> {
    write_whole_keeping(path, durable, None, fill)
}

/// The same; once the new content is there, the old one gets the name `kept`, if there is one.
pub(super) fn write_whole_keeping(
    path: &Path,
    durable: Durable,
    kept: Option<&Path>,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), TrajectoryError> {
    let folder = folder_of(path);
    let write = || -> io::Result<()> {
        let mut temporary = builder().tempfile_in(folder)?;
        let mut writer = BufWriter::new(temporary.as_file_mut());
        fill(&mut writer)?;
        writer.flush()?;
        drop(writer);
        if durable == Durable::Now {
            temporary.as_file().sync_all()?;
        }
        if let Some(kept) = kept.filter(|_| path.exists()) {
            keep_as(path, kept)?;
        }
        temporary.persist(path).map_err(|error| error.error)?;
        Ok(())
    };
    write().map_err(TrajectoryError::io("write", path))?;
    if durable == Durable::Now { sync_folder(folder) } else { Ok(()) }
}

/// Gives a file a second name, in place of what has it; its own name stays, so that a file of this name is there at any
/// moment. Where a file system has no second names the file is moved.
fn keep_as(path: &Path, kept: &Path) -> io::Result<()> {
    match fs::remove_file(kept) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => return Err(cause),
        _ => {}
    }
    fs::hard_link(path, kept).or_else(|_| fs::rename(path, kept))
}

/// The folder a file is in; a bare name has an empty parent, which cannot be opened.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(TEMPORARY);
    // Temporary files are private by default, but these become results: the user's umask decides.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder
}

/// Waits until the file has reached the disk.
pub(super) fn sync(path: &Path) -> Result<(), TrajectoryError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(TrajectoryError::io("write", path))
}

/// Waits until the names in a folder have reached the disk: a rename is only as durable as its folder.
pub(super) fn sync_folder(folder: &Path) -> Result<(), TrajectoryError> {
    if cfg!(unix) { sync(folder) } else { Ok(()) } // elsewhere folders cannot be opened as files
}

/// What is read of a file; none where it is not there, as in the folder of a run that has just started.
pub(super) fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some),
    }
}

/// Creates a folder and those that it is in, unless it is there.
pub(super) fn create_folder(path: &Path) -> Result<(), TrajectoryError> {
    fs::create_dir_all(path).map_err(TrajectoryError::io("create", path))
}

/// Removes the file; that it is not there is as good.
pub(super) fn remove(path: &Path) -> Result<(), TrajectoryError> {
    match fs::remove_file(path) {
        Err(cause) if cause.kind() != io::ErrorKind::NotFound => Err(TrajectoryError::io("remove", path)(cause)),
        _ => Ok(()),
    }
}

/// Removes the files in `folder` whose name `unwanted` tells, and those a killed run left half-written.
pub(super) fn remove_where(folder: &Path, unwanted: impl Fn(&str) -> bool) -> Result<(), TrajectoryError> {
    for name in names_in(folder)? {
        if name.starts_with(TEMPORARY) || unwanted(&name) {
            remove(&folder.join(name))?;
        }
    }
    Ok(())
}

/// Names of the entries of a folder (those that are valid text), sorted.
pub(super) fn names_in(folder: &Path) -> Result<Vec<String>, TrajectoryError> {
    let read = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(folder)? {
            names.extend(entry?.file_name().into_string());
        }
        names.sort_unstable();
        Ok(names)
    };
    read().map_err(TrajectoryError::io("read", folder))
}

/// A file that only grows. An append that fails is undone, so that the file always ends with a whole row or frame.
#[derive(Debug)]
pub(super) struct Appended {
    path: PathBuf,
    file: File,
    /// Bytes of whole rows or frames.
    length: u64,
    /// Of these bytes.
    checksum: Hasher,
    /// Whether there may be bytes after `length`, of an append that failed.
    ragged: bool,
}

impl Appended {
    /// Starts an empty file, replacing one that is there.
    pub(super) fn create(path: &Path) -> Result<Self, TrajectoryError> {
        remove(path)?; // a new file, not the old one cut: whoever reads the old one keeps it
        let file = OpenOptions::new().append(true).create_new(true).open(path);
        let file = file.map_err(TrajectoryError::io("create", path))?;
        Ok(Self { path: path.to_owned(), file, length: 0, checksum: Hasher::new(), ragged: false })
    }

    /// Goes on with a file cut back to what [`check_grown`] has found there.
    pub(super) fn resume(path: &Path, Checked { bytes, checksum }: Checked) -> Result<Self, TrajectoryError> {
        let file = OpenOptions::new().append(true).open(path).map_err(TrajectoryError::io("write", path))?;
        let checksum = Hasher::new_with_initial_len(checksum, bytes);
        let mut appended = Self { path: path.to_owned(), file, length: bytes, checksum, ragged: true };
        appended.cut().map_err(TrajectoryError::io("write", path))?;
        Ok(appended)
    }

    /// Whole rows or frames so far.
    pub(super) fn grown(&self) -> Grown {
        Grown { bytes: self.length, checksum: Some(self.checksum.clone().finalize()) }
    }

    /// Refuses to go on where the path no longer leads to this file, or to all that was written to it.
    pub(super) fn check_place(&self) -> Result<(), TrajectoryError> {
        let lost = |loss: Loss| Err(TrajectoryError::Lost { path: self.path.clone(), loss });
        let open = self.file.metadata().map_err(TrajectoryError::io("read", &self.path))?;
        match fs::metadata(&self.path) {
            Err(cause) if matches!(cause.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                lost(Loss::Removed)
            }
            Err(cause) => Err(TrajectoryError::io("read", &self.path)(cause)),
            Ok(there) if !is_same(&open, &there) => lost(Loss::Replaced),
            Ok(there) if there.is_file() && !self.ragged && there.len() != self.length => {
                lost(Loss::Resized { expected: self.length, found: there.len() })
            }
            Ok(_) => Ok(()),
        }
    }

    /// Where the file is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Appends what `fill` writes, all or nothing.
    pub(super) fn append(
        &mut self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), TrajectoryError> {
        self.try_append(fill).map_err(|cause| {
            // The error to report is the first one; if cutting fails too, the next append tries it again.
            let _ = self.cut();
            TrajectoryError::io("write", &self.path)(cause)
        })
    }

    fn try_append(&mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        self.cut()?;
        self.ragged = true;
        let checksum = self.checksum.clone();
        let mut writer = Counting { inner: BufWriter::new(&self.file), count: 0, checksum };
        fill(&mut writer)?;
        writer.flush()?;
        self.length += writer.count;
        self.checksum = writer.checksum;
        self.ragged = false;
        Ok(())
    }

    fn cut(&mut self) -> io::Result<()> {
        // A length that is right already is left alone: devices and pipes cannot be cut.
        if self.ragged && self.file.metadata()?.len() != self.length {
            self.file.set_len(self.length)?;
        }
        self.ragged = false;
        Ok(())
    }

    /// Waits until all of it has reached the disk.
    pub(super) fn sync(&self) -> Result<(), TrajectoryError> {
        self.file.sync_all().map_err(TrajectoryError::io("write", &self.path))
    }
}

/// Whether both are of one file, as far as the system tells.
#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// The beginning of a file that grows, found to be what it was.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Checked {
    pub bytes: u64,
    /// Of these bytes.
    pub checksum: u32,
}

impl From<Checked> for Grown {
    fn from(Checked { bytes, checksum }: Checked) -> Self {
        Self { bytes, checksum: Some(checksum) }
    }
}

/// Refuses a file that does not begin with what had been written to it; one that is missing has no bytes.
pub(super) fn check_grown(path: &Path, grown: &Grown) -> Result<Checked, TrajectoryError> {
    let Grown { bytes, checksum: stored } = *grown;
    let Checked { bytes: found, checksum: computed } =
        first_bytes(path, bytes).map_err(TrajectoryError::io("read", path))?;
    if found < bytes {
        return Err(TrajectoryError::Shorter { path: path.to_owned(), expected: bytes, found });
    }
    match stored.filter(|stored| *stored != computed) {
        Some(stored) => Err(TrajectoryError::Differs { path: path.to_owned(), bytes, stored, computed }),
        None => Ok(Checked { bytes, checksum: computed }),
    }
}

/// The checksum of so many bytes from the beginning of a file, or of all there are.
fn first_bytes(path: &Path, bytes: u64) -> io::Result<Checked> {
    let mut file = match File::open(path) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(Checked::default()),
        file => file?.take(bytes),
    };
    let (mut checksum, mut found, mut piece) = (Hasher::new(), 0, vec![0; PIECE]);
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok(Checked { bytes: found, checksum: checksum.finalize() }),
            Ok(count) => {
                checksum.update(&piece[..count]);
                found += count as u64;
            }
            Err(cause) if cause.kind() == io::ErrorKind::Interrupted => {}
            Err(cause) => return Err(cause),
        }
    }
}

/// Counts the bytes that pass, because an appending file cannot tell them from those of a failed append, and sums them up.
struct Counting<W> {
    inner: W,
    count: u64,
    checksum: Hasher,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.count += written as u64;
        self.checksum.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_append_leaves_whole_rows_only() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows");
        let mut rows = Appended::create(&path).unwrap();
        rows.append(|out| out.write_all(b"one\n")).unwrap();
        rows.append(|out| {
            out.write_all(&vec![b'x'; 100_000])?; // more than the buffer holds, so a part reaches the file
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"one\n");
        rows.append(|out| out.write_all(b"two\n")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        assert_eq!(rows.grown(), Grown { bytes: 8, checksum: Some(crc32fast::hash(b"one\ntwo\n")) });
    }

    #[test]
    fn a_failed_whole_write_leaves_the_old_content_and_no_litter() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("whole");
        write_whole(&path, Durable::Now, |out| out.write_all(b"old")).unwrap();
        let error = write_whole(&path, Durable::Now, |out| {
            out.write_all(b"half of the ne")?;
            Err(io::ErrorKind::StorageFull.into())
        })
        .unwrap_err();
        assert!(error.is_disk_full());
        assert_eq!(error.to_string(), format!("cannot write {}: the disk is full", path.display()));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(folder.path()).unwrap(), ["whole"]);
    }

    #[test]
    fn a_bare_name_is_in_the_present_folder() {
        assert_eq!(folder_of(Path::new("a.gluey")), Path::new("."));
        assert_eq!(folder_of(Path::new("runs/a.gluey")), Path::new("runs"));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_is_told_in_words() {
        let mut rows = Appended::resume(Path::new("/dev/full"), Checked::default()).unwrap();
        let error = rows.append(|out| out.write_all(b"one\n")).unwrap_err();
        assert_eq!(error.to_string(), "cannot write /dev/full: the disk is full");
        assert_eq!(rows.grown().bytes, 0);
    }

    #[cfg(unix)]
    #[test]
    fn results_are_not_private() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (whole, plain) = (folder.path().join("whole"), folder.path().join("plain"));
        write_whole(&whole, Durable::Later, |_| Ok(())).unwrap();
        fs::write(&plain, "").unwrap();
        let mode = |path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&whole), mode(&plain));
    }
}
