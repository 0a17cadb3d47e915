//! Files that a scene refers to.

use std::io::ErrorKind;
use std::path::Path;

/// The bytes of a file, or why there are none, in plain words.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, String> {
    let shown = path.display();
    std::fs::read(path).map_err(|cause| match cause.kind() {
        ErrorKind::NotFound => format!("cannot open {shown}: there is no such file"),
        ErrorKind::IsADirectory => format!("cannot open {shown}: this is a folder, not a file"),
        ErrorKind::PermissionDenied => format!("cannot open {shown}: reading it is not permitted"),
        _ => format!("cannot open {shown}: {cause}"),
    })
}
