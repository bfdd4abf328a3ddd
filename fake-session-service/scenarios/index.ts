import type { Scenario } from '../agents.ts';
import { demo } from './demo.ts';
import { asleep, completed, failed, failing, inactive, paused, stopped } from './endings.ts';
import { flight } from './flight.ts';
import { hostile, impostor, leak } from './hostile.ts';
import { busy, quiet, report, stepping } from './long.ts';
import { choices, code, fields, forty, markdown, ninetyFive, several, three, tooLong, yesNo } from './questions.ts';
import {
	changing,
	elsewhere,
	empties,
	empty,
	goneOn,
	neverWaits,
	nulls,
	overwrites,
	unknown,
	worksOn,
} from './surprises.ts';

/** Every scenario of the service, by the session id that people type, in the order of the sandbox page. */
export const SCENARIOS: readonly Scenario[] = [
	demo,
	flight,
	choices,
	several,
	yesNo,
	three,
	code,
	fields,
	markdown,
	stepping,
	busy,
	quiet,
	report,
	elsewhere,
	changing,
	goneOn,
	overwrites,
	empties,
	worksOn,
	neverWaits,
	paused,
	inactive,
	asleep,
	completed,
	failing,
	failed,
	stopped,
	forty,
	ninetyFive,
	tooLong,
	unknown,
	empty,
	nulls,
	hostile,
	impostor,
	leak,
];
