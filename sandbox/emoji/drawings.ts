import { arc, box, corners, line, type Outline, oval } from './shapes.ts';

/** Outlines of one colour. */
export type Layer = readonly [colour: string, ...outlines: readonly (Outline | readonly Outline[])[]];

const RED = '#dd2e44';
const YELLOW = '#ffcc4d';
const AMBER = '#f4900c';
const SKIN = '#ffdc5d';
const SHADE = '#ef9645';
const GREEN = '#57a639';
const BLUE = '#3b88c3';
const GREY = '#99aab5';
const DARK = '#3b4754';
const PAPER = '#e1e8ed';
const WHITE = '#ffffff';

const disc = (colour: string): Layer => [colour, oval(50, 50, 44)];
const tile = (colour: string): Layer => [colour, box(6, 6, 88, 88, 14)];
const octagon = corners(30, 4, 70, 4, 96, 30, 96, 70, 70, 96, 30, 96, 4, 70, 4, 30);
const hand = [
	box(26, 18, 11, 50, 5),
	box(39, 8, 11, 60, 5),
	box(52, 10, 11, 58, 5),
	box(65, 22, 11, 46, 5),
	box(26, 46, 50, 48, 20),
	...line(11, 32, 74, 14, 54),
];
const sheet: Layer[] = [
	[PAPER, box(18, 4, 64, 92, 6)],
	[GREY, ...[24, 40, 56, 72].map((y) => box(30, y, 40, 5))],
];
const envelope: Layer[] = [
	[PAPER, box(6, 24, 88, 58, 6)],
	[GREY, line(5, 8, 28, 50, 58, 92, 28)],
];
const mark = (colour: string): Layer => [
	colour,
	arc(13, 50, 32, 20, 190, 380),
	line(13, 66, 42, 50, 56, 50, 64),
	oval(50, 86, 8),
];
const watch: Layer[] = [
	[GREY, box(42, 2, 16, 14, 4)],
	[DARK, oval(50, 56, 42)],
	[WHITE, oval(50, 56, 33)],
];
const hands: Layer = [RED, line(6, 50, 36, 50, 56, 64, 66)];
const cycle = (colour: string): Layer[] => [
	tile(BLUE),
	[
		colour,
		arc(9, 50, 50, 26, 200, 330),
		arc(9, 50, 50, 26, 20, 150),
		corners(84, 24, 82, 50, 60, 40),
		corners(16, 76, 18, 50, 40, 60),
	],
];
const bent = (flip: (x: number) => number): Layer[] => [
	tile(BLUE),
	[WHITE, line(9, flip(24), 30, flip(24), 58, flip(66), 58), corners(flip(60), 38, flip(86), 58, flip(60), 78)],
];

/**
 * The emoji that the program shows, drawn for machines without a font for them. Simple on purpose: elsewhere the
 * machine's own font draws them.
 */
export const DRAWINGS: Readonly<Record<string, readonly Layer[]>> = {
	'✋': [[SKIN, ...hand]],
	'👋': [
		[SKIN, ...hand],
		[BLUE, arc(5, 50, 50, 46, -60, -20), arc(5, 50, 50, 46, 120, 160)],
	],
	'🙋': [
		[SKIN, oval(46, 34, 22), line(13, 80, 56, 84, 12)],
		[BLUE, box(16, 60, 62, 36, 16)],
		[DARK, oval(39, 32, 3), oval(53, 32, 3)],
	],
	'👉': [
		[SKIN, box(6, 32, 52, 44, 14), box(40, 34, 56, 14, 7)],
		[SHADE, box(44, 50, 16, 4), box(44, 60, 14, 4)],
	],
	'👀': [
		[DARK, oval(28, 50, 23, 34), oval(72, 50, 23, 34)],
		[WHITE, oval(28, 50, 19, 30), oval(72, 50, 19, 30)],
		[DARK, oval(22, 54, 9), oval(66, 54, 9)],
	],
	'👣': [[SHADE, oval(30, 66, 14, 24), oval(70, 40, 14, 24), oval(26, 34, 8), oval(74, 8, 8)]],
	'✅': [tile(GREEN), [WHITE, line(13, 24, 52, 42, 72, 76, 28)]],
	'✔': [[DARK, line(13, 18, 54, 40, 78, 84, 22)]],
	'→': [[DARK, line(9, 8, 50, 84, 50), line(9, 58, 24, 84, 50, 58, 76)]],
	'◦': [
		[DARK, oval(50, 50, 14)],
		[WHITE, oval(50, 50, 7)],
	],
	'🔹': [[BLUE, corners(50, 20, 80, 50, 50, 80, 20, 50)]],
	'☐': [
		[DARK, box(14, 14, 72, 72, 6)],
		[WHITE, box(22, 22, 56, 56, 3)],
	],
	'☑': [
		[DARK, box(14, 14, 72, 72, 6)],
		[WHITE, box(22, 22, 56, 56, 3)],
		[DARK, line(9, 32, 52, 46, 66, 70, 34)],
	],
	'✂': [
		[GREY, line(9, 26, 6, 62, 70), line(9, 74, 6, 38, 70)],
		[RED, oval(28, 80, 16), oval(72, 80, 16)],
		[WHITE, oval(28, 80, 8), oval(72, 80, 8)],
	],
	'🗑': [
		[GREY, box(20, 24, 60, 72, 8), box(12, 12, 76, 9, 4), box(38, 4, 24, 10, 4)],
		[PAPER, ...[34, 47, 60].map((x) => box(x, 34, 6, 52, 3))],
	],
	'👌': [
		[
			SKIN,
			box(50, 6, 11, 46, 5),
			box(63, 10, 11, 46, 5),
			box(76, 18, 11, 46, 5),
			box(40, 46, 46, 48, 18),
			oval(32, 46, 24),
		],
		[WHITE, oval(30, 44, 12)],
	],
	'❌': [[RED, line(16, 16, 16, 84, 84), line(16, 84, 16, 16, 84)]],
	'⚠': [
		[YELLOW, corners(50, 2, 98, 92, 2, 92)],
		[DARK, line(10, 50, 36, 50, 60), oval(50, 78, 6)],
	],
	'⛔': [disc(RED), [WHITE, box(20, 41, 60, 18, 4)]],
	'🚫': [disc(RED), [WHITE, oval(50, 50, 32)], [RED, line(12, 27, 27, 73, 73)]],
	'🛑': [
		[RED, octagon],
		[WHITE, box(22, 42, 56, 16, 4)],
	],
	'⏳': [
		[BLUE, box(18, 4, 64, 9, 4), box(18, 87, 64, 9, 4)],
		[PAPER, corners(24, 13, 76, 13, 54, 50, 76, 87, 24, 87, 46, 50)],
		[YELLOW, corners(36, 32, 64, 32, 50, 52), corners(30, 87, 70, 87, 50, 68)],
	],
	'⏰': [
		[RED, oval(20, 20, 14), oval(80, 20, 14), ...line(9, 26, 92, 34, 82), ...line(9, 74, 92, 66, 82)],
		...watch.slice(1),
		hands,
	],
	'⏱': [...watch, hands],
	'⏸': [tile(BLUE), [WHITE, box(28, 24, 16, 52, 3), box(56, 24, 16, 52, 3)]],
	'⏹': [tile(BLUE), [WHITE, box(28, 28, 44, 44, 3)]],
	'⬇': [tile(BLUE), [WHITE, box(42, 20, 16, 34), corners(24, 50, 76, 50, 50, 82)]],
	'↪': bent((x) => x),
	'↩': bent((x) => 100 - x),
	'🔁': cycle(WHITE),
	'🔄': cycle(WHITE),
	'🔀': [
		tile(BLUE),
		[
			WHITE,
			line(8, 16, 32, 34, 32, 58, 68, 72, 68),
			line(8, 16, 68, 34, 68, 58, 32, 72, 32),
			corners(70, 20, 88, 32, 70, 44),
			corners(70, 56, 88, 68, 70, 80),
		],
	],
	'🟢': [disc(GREEN)],
	'🔵': [disc(BLUE)],
	'⚪': [disc(PAPER)],
	'❓': [mark(RED)],
	'❔': [mark(GREY)],
	'🔒': [
		[GREY, arc(10, 50, 40, 22, 180, 360), ...line(10, 28, 40, 28, 54), ...line(10, 72, 40, 72, 54)],
		[AMBER, box(16, 46, 68, 50, 8)],
		[DARK, oval(50, 66, 7), box(47, 68, 6, 16, 2)],
	],
	'✏': [
		[YELLOW, ...line(17, 28, 72, 74, 26)],
		[RED, ...line(17, 80, 20, 84, 16)],
		[DARK, corners(8, 92, 18, 66, 34, 82)],
	],
	'📝': [...sheet, [AMBER, ...line(10, 56, 72, 90, 38)], [DARK, corners(46, 84, 50, 68, 62, 78)]],
	'📄': sheet,
	'📋': [
		[SHADE, box(12, 8, 76, 90, 8)],
		[WHITE, box(20, 18, 60, 74, 3)],
		[GREY, box(34, 2, 32, 16, 5), ...[34, 50, 66].map((y) => box(30, y, 40, 5))],
	],
	'📎': [
		[
			GREY,
			...arc(8, 50, 26, 22, 180, 360),
			...line(8, 28, 26, 28, 72),
			...arc(8, 46, 72, 18, 0, 180),
			...line(8, 64, 72, 64, 34),
			...arc(8, 53, 34, 11, 180, 360),
			...line(8, 42, 34, 42, 68),
			...line(8, 72, 26, 72, 76),
		],
	],
	'📨': [...envelope, [BLUE, ...[36, 52, 68].map((y) => box(0, y, 18, 5))]],
	'💾': [
		[DARK, box(8, 8, 84, 84, 8)],
		[PAPER, box(26, 8, 46, 30), box(22, 52, 56, 40)],
		[DARK, box(56, 12, 10, 20)],
	],
	'💬': [
		[PAPER, oval(50, 44, 46, 38), corners(18, 66, 44, 76, 14, 98)],
		[GREY, oval(30, 44, 6), oval(50, 44, 6), oval(70, 44, 6)],
	],
	'💤': [[BLUE, line(9, 50, 10, 90, 10, 50, 48, 90, 48), line(7, 12, 58, 40, 58, 12, 88, 40, 88)]],
	'💨': [[GREY, line(9, 6, 34, 70, 34), line(9, 20, 54, 92, 54), line(9, 6, 74, 60, 74), arc(9, 70, 22, 12, 90, -90)]],
	'📣': [
		[RED, corners(10, 44, 78, 8, 78, 84, 10, 62)],
		[PAPER, oval(80, 46, 9, 40)],
		[DARK, box(24, 62, 18, 30, 6)],
	],
	'🔔': [
		[YELLOW, oval(50, 40, 28, 32), corners(22, 40, 78, 40, 92, 78, 8, 78)],
		[SHADE, oval(50, 84, 11)],
	],
	'🏁': [
		[GREY, box(10, 4, 6, 92, 3)],
		[DARK, box(16, 8, 74, 50)],
		[WHITE, ...[16, 53].flatMap((x) => [box(x, 8, 18, 17), box(x + 19, 25, 18, 16), box(x, 41, 18, 17)])],
	],
	'🔧': [
		[GREY, ...line(18, 24, 80, 62, 40), oval(68, 30, 26)],
		[WHITE, corners(68, 30, 74, 0, 100, 26)],
	],
	'⚙': [
		[GREY, oval(50, 50, 32), ...[0, 45, 90, 135].flatMap((angle) => spoke(angle))],
		[WHITE, oval(50, 50, 14)],
	],
	'🖼': [
		[SHADE, box(4, 12, 92, 76, 4)],
		['#bbddf5', box(14, 22, 72, 56)],
		[GREEN, corners(14, 78, 40, 44, 58, 64, 70, 54, 86, 78)],
		[YELLOW, oval(70, 36, 8)],
	],
	'🌙': [
		[YELLOW, oval(50, 50, 44)],
		[WHITE, oval(68, 38, 36)],
	],
	'🤖': [
		[GREY, box(14, 24, 72, 66, 10), box(46, 6, 8, 20, 3)],
		[WHITE, oval(34, 48, 10), oval(66, 48, 10), box(30, 70, 40, 9, 3)],
		[DARK, oval(34, 48, 5), oval(66, 48, 5)],
	],
	'🎉': [
		[YELLOW, corners(6, 94, 28, 36, 64, 72)],
		[RED, oval(72, 20, 8), oval(46, 12, 6)],
		[BLUE, oval(88, 48, 8), oval(66, 46, 6)],
	],
	'💡': [
		[YELLOW, oval(50, 38, 34), box(34, 56, 32, 18)],
		[GREY, box(34, 74, 32, 20, 8)],
	],
	'👍': [
		[SKIN, box(34, 40, 54, 50, 14), ...line(18, 44, 52, 58, 16)],
		[BLUE, box(8, 42, 22, 50, 4)],
	],
};

function spoke(degrees: number): Outline[] {
	const x = Math.cos((degrees * Math.PI) / 180) * 38;
	const y = Math.sin((degrees * Math.PI) / 180) * 38;
	return line(16, 50 - x, 50 - y, 50 + x, 50 + y);
}
