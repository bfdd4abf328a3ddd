import { z } from 'zod';

/** In place of the id of a forgotten person: random, or an answer's id, so that nothing leads back to them. */
export const FORGOTTEN = 'forgotten-';

export const isForgotten = (userId: string) => userId.startsWith(FORGOTTEN);

export const PERSON = z.object({ teamId: z.string(), userId: z.string() });

export type Person = Readonly<z.infer<typeof PERSON>>;
