import { it } from 'vitest';
import { expectNoLaterThanInTurn } from './simulation/in-turn.ts';

it('notices any population at the median at most 10 % and 1 s later than reading in turn, without a 429 and without making people wait', {
	timeout: 240_000,
}, () => {
	expectNoLaterThanInTurn(4);
});
