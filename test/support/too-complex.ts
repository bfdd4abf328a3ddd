import type { Fault } from '../../fake-session-service/faults.ts';

/** More arrays, objects and elements than are read. */
const BODY = `[${'0,'.repeat(100_000)}0]`;

/** Reads of this session find something that Handraise never reads, so an answer to it is refused for good. */
export const tooComplex = (sessionId: string): Fault => ({ kind: 'body', body: BODY, method: 'GET', sessionId });
