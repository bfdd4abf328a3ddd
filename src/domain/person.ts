import { randomBytes } from 'node:crypto';
import { z } from 'zod';

/** Begins what stands in place of a forgotten person's id. A random text or an answer's id follows. */
export const FORGOTTEN = 'forgotten-';

export const isForgotten = (userId: string) => userId.startsWith(FORGOTTEN);

export const PERSON = z.object({ teamId: z.string(), userId: z.string() });

export type Person = Readonly<z.infer<typeof PERSON>>;

/** A new random name for a forgotten person. */
export const forgottenName = () => `${FORGOTTEN}${randomBytes(8).toString('hex')}`;
/** The word for a person whose name is not known. */
export const SOMEBODY = 'Somebody';

export const isSamePerson = (one: Person, other: Person) => one.userId === other.userId && one.teamId === other.teamId;
