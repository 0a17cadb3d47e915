//! Pictures that move: GIF, which needs nothing else, and MP4 through ffmpeg where that is installed.

use std::borrow::Cow;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use color_quant::NeuQuant;

use crate::error::RenderError;
use crate::image::Image;

/// Colours of a GIF; one more stands for "as before".
const COLOURS: usize = 255;
const AS_BEFORE: u8 = COLOURS as u8;
/// Bits a channel by which colours are told apart when the nearest of the palette is looked up.
const BITS: u32 = 6;
/// Bits a channel of the table from which the palette is chosen.
const COARSE: u32 = 5;

/// A GIF being written: one palette for all frames, and of each frame only what differs from the one before.
pub struct Gif {
    path: PathBuf,
    encoder: gif::Encoder<BufWriter<File>>,
    size: [u16; 2],
    delay: u16,
    palette: Vec<[u8; 3]>,
    /// The nearest colour of the palette for each coarse colour, where it has been asked for.
    nearest: Vec<Option<u8>>,
    shown: Vec<u8>,
}

impl Gif {
    /// Starts a file. The palette is chosen for the examples, which should show all colours there will be. Times
    /// between frames are whole hundredths of a second.
    pub fn create(path: &Path, examples: &[Image], fps: f64) -> Result<Self, RenderError> {
        let (width, height) = examples.first().map_or((1, 1), |image| (image.width, image.height));
        let side = |pixels: u32| u16::try_from(pixels).map_err(|_| RenderError::TooLarge(pixels));
        let size = [side(width)?, side(height)?];
        let palette = palette(examples);
        let told = writing(path);
        let file = BufWriter::new(File::create(path).map_err(&told)?);
        let mut bytes = palette.concat();
        bytes.resize(3 * (COLOURS + 1), 0);
        let encoder = gif::Encoder::new(file, size[0], size[1], &bytes);
        let mut encoder = encoder.map_err(|cause| told(io::Error::other(cause)))?;
        encoder.set_repeat(gif::Repeat::Infinite).map_err(|cause| told(io::Error::other(cause)))?;
        // Viewers take less than two hundredths for a mistake.
        let delay = (100.0 / fps).round().clamp(2.0, f64::from(u16::MAX)) as u16;
        let nearest = vec![None; 1 << (3 * BITS)];
        Ok(Self { path: path.to_owned(), encoder, size, delay, palette, nearest, shown: Vec::new() })
    }

    /// Adds a frame, of the size of the examples.
    pub fn add(&mut self, image: &Image) -> Result<(), RenderError> {
        let indices: Vec<u8> = image.pixels.as_chunks::<3>().0.iter().map(|colour| self.index(*colour)).collect();
        let [width, height] = self.size.map(usize::from);
        let [left, top, right, bottom] = changed(&self.shown, &indices, [width, height]);
        let mut buffer = Vec::with_capacity((right - left) * (bottom - top));
        for at in (top..bottom).flat_map(|y| y * width + left..y * width + right) {
            let same = self.shown.get(at) == Some(&indices[at]);
            buffer.push(if same { AS_BEFORE } else { indices[at] });
        }
        let frame = gif::Frame {
            delay: self.delay,
            dispose: gif::DisposalMethod::Keep,
            transparent: (!self.shown.is_empty()).then_some(AS_BEFORE),
            left: left as u16,
            top: top as u16,
            width: (right - left) as u16,
            height: (bottom - top) as u16,
            buffer: Cow::Owned(buffer),
            ..gif::Frame::default()
        };
        self.shown = indices;
        self.encoder.write_frame(&frame).map_err(|cause| writing(&self.path)(io::Error::other(cause)))
    }

    /// Ends the file.
    pub fn finish(self) -> Result<(), RenderError> {
        let told = writing(&self.path);
        let mut out = self.encoder.into_inner().map_err(|cause| told(io::Error::other(cause)))?;
        out.flush().map_err(told)
    }

    fn index(&mut self, colour: [u8; 3]) -> u8 {
        let key = colour.iter().fold(0, |key, part| key << BITS | usize::from(part >> (8 - BITS)));
        if let Some(index) = self.nearest[key] {
            return index;
        }
        let index = nearest(&self.palette, colour);
        self.nearest[key] = Some(index as u8);
        index as u8
    }
}

fn writing(path: &Path) -> impl Fn(io::Error) -> RenderError + '_ {
    move |cause| RenderError::Write { path: path.to_owned(), cause }
}

/// The index of the colour that differs least.
fn nearest(palette: &[[u8; 3]], colour: [u8; 3]) -> usize {
    let distance = |other: &[u8; 3]| (0..3).map(|k| u32::from(other[k].abs_diff(colour[k])).pow(2)).sum::<u32>();
    palette.iter().enumerate().min_by_key(|(_, other)| distance(other)).map_or(0, |(index, _)| index)
}

/// The colours of a palette: of all that occur, whether often or not, and exactly the most frequent one.
fn palette(examples: &[Image]) -> Vec<[u8; 3]> {
    let mut bins = vec![([0_u64; 3], 0_u64); 1 << (3 * COARSE)];
    for colour in examples.iter().flat_map(|image| image.pixels.as_chunks::<3>().0) {
        let key = colour.iter().fold(0, |key, part| key << COARSE | usize::from(part >> (8 - COARSE)));
        let (sum, count) = &mut bins[key];
        *sum = [0, 1, 2].map(|k| sum[k] + u64::from(colour[k]));
        *count += 1;
    }
    bins.retain(|(_, count)| *count > 0);
    let mean = |(sum, count): &([u64; 3], u64)| sum.map(|part| ((part + count / 2) / count) as u8);
    let Some(background) = bins.iter().max_by_key(|(_, count)| *count).map(mean) else { return vec![[0; 3]] };
    let mut palette: Vec<[u8; 3]> = if bins.len() <= COLOURS {
        bins.iter().map(mean).collect()
    } else {
        // Each colour as often as the logarithm of its area, so that small things keep theirs.
        let weight = |count: u64| u64::BITS - count.leading_zeros();
        let opaque = |[r, g, b]: [u8; 3]| [r, g, b, 255];
        let pixels: Vec<u8> = bins.iter().flat_map(|bin| opaque(mean(bin)).repeat(weight(bin.1) as usize)).collect();
        NeuQuant::new(1, COLOURS, &pixels).color_map_rgb().as_chunks::<3>().0.to_vec()
    };
    let kept = nearest(&palette, background);
    palette[kept] = background;
    palette
}

/// Left, top, right and bottom of what differs; one pixel where nothing does, since a frame has at least one.
fn changed(before: &[u8], now: &[u8], [width, height]: [usize; 2]) -> [usize; 4] {
    if before.is_empty() {
        return [0, 0, width, height];
    }
    let [mut left, mut top, mut right, mut bottom] = [width, height, 0, 0];
    for (at, _) in before.iter().zip(now).enumerate().filter(|(_, (a, b))| a != b) {
        let (x, y) = (at % width, at / width);
        [left, top, right, bottom] = [left.min(x), top.min(y), right.max(x + 1), bottom.max(y + 1)];
    }
    if left < right { [left, top, right, bottom] } else { [0, 0, 1, 1] }
}

/// An MP4 file being written by ffmpeg.
pub struct Mp4 {
    path: PathBuf,
    ffmpeg: Child,
    pixels: Option<ChildStdin>,
}

impl Mp4 {
    /// Starts ffmpeg; that it is not installed is an error of its own.
    pub fn create(path: &Path, size: [u32; 2], fps: f64) -> Result<Self, RenderError> {
        let mut command = Command::new("ffmpeg");
        command.args(["-hide_banner", "-loglevel", "error", "-y", "-f", "rawvideo", "-pixel_format", "rgb24"]);
        command.args(["-video_size", &format!("{}x{}", size[0], size[1]), "-framerate", &fps.to_string(), "-i", "-"]);
        // What every player reads needs even sides, and half of the resolution for colours.
        command.args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-c:v", "libx264", "-crf", "18"]);
        command.args(["-pix_fmt", "yuv420p", "-movflags", "+faststart", "-f", "mp4"]).arg(path);
        let started = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn();
        let mut ffmpeg = started.map_err(|cause| match cause.kind() {
            io::ErrorKind::NotFound => RenderError::NoFfmpeg,
            _ => RenderError::Ffmpeg { path: path.to_owned(), message: cause.to_string() },
        })?;
        let pixels = ffmpeg.stdin.take();
        Ok(Self { path: path.to_owned(), ffmpeg, pixels })
    }

    /// Adds a frame.
    pub fn add(&mut self, image: &Image) -> Result<(), RenderError> {
        match self.pixels.as_mut().map_or(Ok(()), |pixels| pixels.write_all(&image.pixels)) {
            Ok(()) => Ok(()),
            // It has ended: what it says tells more than a broken pipe.
            Err(cause) => match self.end() {
                Ok(()) => Err(writing(&self.path)(cause)),
                told => told,
            },
        }
    }

    /// Ends the file, and waits until it is there.
    pub fn finish(mut self) -> Result<(), RenderError> {
        self.end()
    }

    fn end(&mut self) -> Result<(), RenderError> {
        self.pixels = None; // the end of its input
        let mut said = String::new();
        if let Some(mut errors) = self.ffmpeg.stderr.take() {
            // A message that is no text is as good as none: the code tells.
            let _ = errors.read_to_string(&mut said);
        }
        let failed = |message: String| RenderError::Ffmpeg { path: self.path.clone(), message };
        let status = self.ffmpeg.wait().map_err(|cause| failed(cause.to_string()))?;
        if status.success() {
            return Ok(());
        }
        let said = said.trim();
        Err(failed(if said.is_empty() { status.to_string() } else { said.to_owned() }))
    }
}

impl Drop for Mp4 {
    fn drop(&mut self) {
        // A film that was given up: one that ended is not there to be stopped.
        let _ = self.ffmpeg.kill();
        let _ = self.ffmpeg.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bright square on a ramp of many colours.
    fn frame(k: u32) -> Image {
        let mut image = Image::filled(64, 48, [240, 240, 240]);
        for y in 24..48 {
            for x in 0..64 {
                image.paste(&Image::filled(1, 1, [(4 * x) as u8, (5 * y) as u8, (255 - x - y) as u8]), x, y);
            }
        }
        image.paste(&Image::filled(6, 6, [200, 30, 30]), 5 + 4 * k, 5);
        image
    }

    #[test]
    fn a_gif_shows_its_frames() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.gif");
        let frames: Vec<Image> = [0, 1, 1, 5].map(frame).to_vec();
        let mut gif = Gif::create(&path, &frames, 25.0).unwrap();
        for image in &frames {
            gif.add(image).unwrap();
        }
        gif.finish().unwrap();

        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(File::open(&path).unwrap()).unwrap();
        let mut shown = Image::filled(64, 48, [0; 3]);
        let mut count = 0;
        while let Some(part) = decoder.read_next_frame().unwrap() {
            assert_eq!(part.delay, 4);
            for (k, colour) in part.buffer.as_chunks::<4>().0.iter().enumerate().filter(|(_, colour)| colour[3] > 0) {
                let (x, y) = (k as u32 % u32::from(part.width), k as u32 / u32::from(part.width));
                let pixel = Image::filled(1, 1, [colour[0], colour[1], colour[2]]);
                shown.paste(&pixel, x + u32::from(part.left), y + u32::from(part.top));
            }
            let image = &frames[count];
            let off: u32 = shown.pixels.iter().zip(&image.pixels).map(|(a, b)| u32::from(a.abs_diff(*b))).sum();
            let mean = f64::from(off) / image.pixels.len() as f64;
            assert!(mean < 4.0, "frame {count} is off by {mean}, though 255 colours stand for 1500");
            assert_eq!(shown.pixel(60, 2), [240; 3], "the background is exact");
            count += 1;
        }
        assert_eq!(count, 4);
    }

    #[test]
    fn only_what_changed_is_stored() {
        assert_eq!(changed(&[], &[1; 6], [3, 2]), [0, 0, 3, 2]);
        assert_eq!(changed(&[1; 6], &[1; 6], [3, 2]), [0, 0, 1, 1]);
        assert_eq!(changed(&[1; 6], &[1, 1, 1, 1, 2, 2], [3, 2]), [1, 1, 3, 2]);
    }
}
