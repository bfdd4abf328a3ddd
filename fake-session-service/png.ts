import { crc32, deflateSync } from 'node:zlib';

type Rgb = readonly [number, number, number];

/** Glyphs of 5 by 7, one string per row, `#` is set: only those of "STEP 0123456789". */
const GLYPHS: Readonly<Record<string, readonly string[]>> = {
	'0': ['.###.', '#...#', '#..##', '#.#.#', '##..#', '#...#', '.###.'],
	'1': ['..#..', '.##..', '..#..', '..#..', '..#..', '..#..', '.###.'],
	'2': ['.###.', '#...#', '....#', '...#.', '..#..', '.#...', '#####'],
	'3': ['.###.', '#...#', '....#', '..##.', '....#', '#...#', '.###.'],
	'4': ['...#.', '..##.', '.#.#.', '#..#.', '#####', '...#.', '...#.'],
	'5': ['#####', '#....', '####.', '....#', '....#', '#...#', '.###.'],
	'6': ['..##.', '.#...', '#....', '####.', '#...#', '#...#', '.###.'],
	'7': ['#####', '....#', '...#.', '..#..', '.#...', '.#...', '.#...'],
	'8': ['.###.', '#...#', '#...#', '.###.', '#...#', '#...#', '.###.'],
	'9': ['.###.', '#...#', '#...#', '.####', '....#', '...#.', '.##..'],
	S: ['.####', '#....', '#....', '.###.', '....#', '....#', '####.'],
	T: ['#####', '..#..', '..#..', '..#..', '..#..', '..#..', '..#..'],
	E: ['#####', '#....', '#....', '####.', '#....', '#....', '#####'],
	P: ['####.', '#...#', '#...#', '####.', '#....', '#....', '#....'],
};

function chunk(type: string, data: Buffer): Buffer {
	const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
	const framed = Buffer.alloc(body.length + 8);
	framed.writeUInt32BE(data.length, 0);
	body.copy(framed, 4);
	framed.writeUInt32BE(crc32(body), body.length + 4);
	return framed;
}

/** Encodes 8-bit RGB pixels (`width * height * 3` bytes, row by row) as a PNG. */
function encodePng(width: number, height: number, pixels: Uint8Array): Buffer {
	const header = Buffer.alloc(13);
	header.writeUInt32BE(width, 0);
	header.writeUInt32BE(height, 4);
	header.set([8, 2, 0, 0, 0], 8);
	const stride = width * 3;
	const raw = Buffer.alloc((stride + 1) * height);
	for (let y = 0; y < height; y++) raw.set(pixels.subarray(y * stride, (y + 1) * stride), y * (stride + 1) + 1);
	return Buffer.concat([
		Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
		chunk('IHDR', header),
		chunk('IDAT', deflateSync(raw)),
		chunk('IEND', Buffer.alloc(0)),
	]);
}

type Box = readonly [left: number, top: number, width: number, height: number];

/** A picture of the agent's browser at a step, 480 by 300: a window with an address bar and a large "STEP n". */
export function drawScreenshot(step: number): Buffer {
	const width = 480;
	const height = 300;
	const pixels = new Uint8Array(width * height * 3);
	const fill = ([left, top, w, h]: Box, color: Rgb) => {
		for (let y = Math.max(0, top); y < Math.min(height, top + h); y++) {
			for (let x = Math.max(0, left); x < Math.min(width, left + w); x++) pixels.set(color, (y * width + x) * 3);
		}
	};
	fill([0, 0, width, height], [246, 247, 249]);
	fill([0, 0, width, 36], [221, 225, 231]);
	fill([12, 12, 12, 12], [236, 106, 94]);
	fill([30, 12, 12, 12], [244, 190, 79]);
	fill([48, 12, 12, 12], [97, 196, 84]);
	fill([76, 8, width - 88, 20], [255, 255, 255]);
	for (let row = 0; row < 5; row++) {
		fill([24, 210 + row * 16, 300 - ((row * 53 + step * 29) % 140), 8], [206, 212, 221]);
	}

	const text = `STEP ${step}`;
	const scale = 8;
	let left = Math.round((width - text.length * 6 * scale) / 2);
	for (const character of text) {
		GLYPHS[character]?.forEach((row, y) => {
			for (let x = 0; x < row.length; x++) {
				if (row[x] === '#') fill([left + x * scale, 100 + y * scale, scale, scale], [38, 70, 130]);
			}
		});
		left += 6 * scale;
	}
	return encodePng(width, height, pixels);
}
