import { it } from 'vitest';
import { postsNewBehindOld } from './backlog.ts';

it.each([10, 100])('posts new questions within 10 s behind forty old ones, with %i watches in a channel', (most) =>
	postsNewBehindOld(40, most, 10_000),
);
