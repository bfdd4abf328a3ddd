import { it } from 'vitest';
import { crowdOpensHome } from './crowd.ts';

it('fills every Home of a crowd within four minutes, while presses pass', { timeout: 180_000 }, () => crowdOpensHome());
