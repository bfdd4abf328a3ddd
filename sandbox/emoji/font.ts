import { DRAWINGS } from './drawings.ts';
import { clockwise, type Outline } from './shapes.ts';

/*
 * A TrueType font of the drawings, with a colour for each layer (tables COLR and CPAL, version 0), after the OpenType
 * specification (learn.microsoft.com/typography/opentype/spec).
 */

const EM = 1000;
const ASCENT = 900;
const DESCENT = 250;
const ADVANCE = 1200;
/** From the grid of the drawings to the font's units, whose y goes up. */
const onX = (x: number) => Math.round(60 + 10.8 * x);
const onY = (y: number) => Math.round(860 - 10.8 * y);

const u16 = (...values: readonly number[]) => values.flatMap((value) => [(value >> 8) & 255, value & 255]);
const u32 = (...values: readonly number[]) => values.flatMap((value) => [...u16(value >>> 16), ...u16(value & 0xffff)]);
const zeros = (count: number) => Array.from({ length: count }, () => 0);
const text = (value: string) => value.split('').flatMap((letter) => u16(letter.charCodeAt(0)));
const padded = (bytes: readonly number[]) => [...bytes, ...zeros((4 - (bytes.length % 4)) % 4)];

interface Glyph {
	readonly bytes: readonly number[];
	readonly left: number;
	readonly points: number;
	readonly contours: number;
}

function glyphOf(outlines: readonly Outline[]): Glyph {
	const contours = outlines.map(clockwise);
	const points = contours.flat().map(({ x, y, isOn }) => ({ x: onX(x), y: onY(y), isOn }));
	if (points.length === 0) return { bytes: [], left: 0, points: 0, contours: 0 };
	const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
	const steps = (values: readonly number[]) => values.map((value, index) => value - (values[index - 1] ?? 0));
	let end = -1;
	const ends = contours.map((contour) => {
		end += contour.length;
		return end;
	});
	const left = Math.min(...xs);
	const bytes = [
		...u16(contours.length, left, Math.min(...ys), Math.max(...xs), Math.max(...ys), ...ends, 0),
		...points.map(({ isOn }) => (isOn ? 1 : 0)),
		...u16(...steps(xs), ...steps(ys)),
	];
	return { bytes: padded(bytes), left, points: points.length, contours: contours.length };
}

/** The glyphs: first none, then for each drawing the whole of it and its layers. */
function glyphsOf() {
	const glyphs: Glyph[] = [glyphOf([])];
	const colours: string[] = [];
	const characters: { code: number; glyph: number }[] = [];
	const bases: number[] = [];
	const layers: number[] = [];
	for (const [emoji, drawing] of Object.entries(DRAWINGS)) {
		const shapes = drawing.map(([colour, ...parts]) => {
			const outlines = parts.flatMap((part) => (isOutline(part) ? [part] : part));
			return { colour, outlines };
		});
		const base = glyphs.push(glyphOf(shapes.flatMap(({ outlines }) => outlines))) - 1;
		characters.push({ code: emoji.codePointAt(0) ?? 0, glyph: base });
		bases.push(...u16(base, layers.length / 4, shapes.length));
		for (const { colour, outlines } of shapes) {
			if (!colours.includes(colour)) colours.push(colour);
			layers.push(...u16(glyphs.push(glyphOf(outlines)) - 1, colours.indexOf(colour)));
		}
	}
	return { glyphs, colours, characters: characters.sort((a, b) => a.code - b.code), bases, layers };
}

function isOutline(part: Outline | readonly Outline[]): part is Outline {
	return part.every((one) => 'x' in one);
}

function names(): number[] {
	const records = [1, 2, 3, 4, 6].map((id) => ({ id, bytes: text(id === 2 ? 'Regular' : 'SandboxEmoji') }));
	let offset = 0;
	const entries = records.flatMap(({ id, bytes }) => {
		const entry = u16(3, 1, 0x409, id, bytes.length, offset);
		offset += bytes.length;
		return entry;
	});
	return [...u16(0, records.length, 6 + entries.length), ...entries, ...records.flatMap(({ bytes }) => bytes)];
}

export function emojiFont(): Uint8Array {
	const { glyphs, colours, characters, bases, layers } = glyphsOf();
	let end = 0;
	const places = [0, ...glyphs.map(({ bytes }) => (end += bytes.length))];
	const groups = characters.flatMap(({ code, glyph }) => u32(code, code, glyph));
	const most = (of: (glyph: Glyph) => number) => Math.max(...glyphs.map(of));
	const colour = (hex: string) => [5, 3, 1].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).concat(255);
	const tables: Readonly<Record<string, readonly number[]>> = {
		COLR: [...u16(0, bases.length / 6), ...u32(14, 14 + bases.length), ...u16(layers.length / 4), ...bases, ...layers],
		CPAL: [...u16(0, colours.length, 1, colours.length), ...u32(14), ...u16(0), ...colours.flatMap(colour)],
		'OS/2': [
			...u16(4, ADVANCE, 400, 5, 0, 650, 700, 0, 140, 650, 700, 0, 480, 50, 260, 0),
			...zeros(30),
			...u16(0x40, Math.min(0xffff, characters[0]?.code ?? 0), 0xffff, ASCENT, -DESCENT, 0, ASCENT, DESCENT),
			...zeros(8),
			...u16(500, 700, 0, 32, 1),
		],
		cmap: [
			...u16(0, 1, 3, 10),
			...u32(12),
			...u16(12, 0),
			...u32(16 + groups.length, 0, groups.length / 12),
			...groups,
		],
		glyf: glyphs.flatMap(({ bytes }) => bytes),
		head: [
			...u32(0x10000, 0x10000, 0, 0x5f0f3cf5),
			...u16(0xb, EM),
			...zeros(16),
			...u16(0, -DESCENT, ADVANCE, ASCENT, 0, 8, 2, 1, 0),
		],
		hhea: [...u32(0x10000), ...u16(ASCENT, -DESCENT, 0, ADVANCE, 0, 0, ADVANCE, 1, 0, 0, 0, 0, 0, 0, 0, glyphs.length)],
		hmtx: glyphs.flatMap(({ left }) => u16(ADVANCE, left)),
		loca: u32(...places),
		maxp: [
			...u32(0x10000),
			...u16(
				glyphs.length,
				most((one) => one.points),
				most((one) => one.contours),
				0,
				0,
				1,
			),
			...zeros(16),
		],
		name: names(),
		post: [...u32(0x30000, 0), ...u16(-100, 50), ...zeros(20)],
	};
	const count = Object.keys(tables).length;
	const power = Math.floor(Math.log2(count));
	let offset = 12 + 16 * count;
	const directory = Object.entries(tables).flatMap(([tag, bytes]) => {
		const entry = [...Buffer.from(tag), ...u32(checksum(bytes), offset, bytes.length)];
		offset += padded(bytes).length;
		return entry;
	});
	const start = [...u32(0x10000), ...u16(count, 16 * 2 ** power, power, 16 * (count - 2 ** power))];
	return Uint8Array.from([...start, ...directory, ...Object.values(tables).flatMap(padded)]);
}

function checksum(bytes: readonly number[]): number {
	const whole = Buffer.from(padded(bytes));
	let sum = 0;
	for (let at = 0; at < whole.length; at += 4) sum = (sum + whole.readUInt32BE(at)) >>> 0;
	return sum;
}
