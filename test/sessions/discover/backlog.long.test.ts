import { it } from 'vitest';
import { postsNewBehindOld } from './backlog.ts';

it.each([1, 10, 1_000])('posts new questions within 25 s behind 490 old ones, with %i watches in a channel', (most) =>
	postsNewBehindOld(490, most, 25_000),
);
