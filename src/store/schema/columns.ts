import { MINUTE_MS, STEP_MS } from '../../kernel/clock.ts';

interface Time {
	readonly type: 'bigint';
	/** The longest legal delay: a time further ahead was stored by a clock that was ahead. */
	readonly longestMs: number;
	/** What such a time becomes, counted from now. */
	readonly becomesMs?: number;
	/** It ends a duration, which goes on when the clock is set. Other times follow the clock. */
	readonly lasts?: true;
	/** The row decides anew when it is due, so each step of the clock makes it due. */
	readonly decides?: true;
}

interface Value {
	readonly type: 'text' | 'integer' | 'bigint';
	/**
	 * Where it holds ids of people. `id`: it is one. `part`: one is part of it. A list: fields of its JSON, from the
	 * root; `[]` is each entry of a list and `{}` each name of a record.
	 */
	readonly people?: 'id' | 'part' | readonly string[];
	/**
	 * Of a ciphertext: columns that never change while it is there, to which it is bound besides its key, so that nobody
	 * without the encryption key moves it to other people or questions.
	 */
	readonly bound?: readonly string[];
	/** Values of drafts, which windows show, may turn out to be secret: see `secret-wiping.ts`. */
	readonly isSecret?: true;
}

/** What a column holds, made of the kinds below. Types are SQL that both databases understand. */
export type Column = (Time | Value) & {
	readonly isNull?: true;
	readonly isUnique?: true;
	/** In SQL. */
	readonly default?: number | string;
	/** The migration that added it; left out: the one of its table. */
	readonly since?: number;
};

/** Without an id of a person. */
export const text = { type: 'text' } as const;
/** The id of a person, or of a place that may be one. */
export const personId = { ...text, people: 'id' } as const;
export const json = { ...text, people: [] } as const;
export const sealed = { ...json, bound: [] } as const;
/** A number, or 0 or 1. */
export const integer = { type: 'integer' } as const;
/** A large number. A time of this kind is a record: it stays as it is when the clock is set. */
export const large = { type: 'bigint' } as const;
export const fromZero = { ...integer, default: 0 } as const;
/** When something happened: milliseconds since the epoch. Clocks of replicas differ by less. */
export const noted = { type: 'bigint', longestMs: STEP_MS } as const;
/** A time that may lie ahead. */
export const ahead = (longestMs: number, rule?: Omit<Time, 'type' | 'longestMs'>) =>
	({ type: 'bigint', longestMs, ...rule }) as const;

export const orNull = <const Of extends Column>(column: Of) => ({ ...column, isNull: true }) as const;

export interface Table {
	/** Rows are leased and locked by its last column: the id of a session is unique within its service. */
	readonly key: readonly [string, ...string[]];
	readonly columns: Readonly<Record<string, Column>>;
	readonly unique?: readonly (readonly string[])[];
	/**
	 * By the end of its name: what stands behind the table in `create index`, with `unique` before it; with the migration
	 * that added it, if that is a later one than that of the table.
	 */
	readonly indexes?: Readonly<Record<string, string | readonly [on: string, since: number]>>;
	/** How long rows stay: days after their end, or `RETENTION_DAYS` if less. Of their values, docs/data.md tells it. */
	readonly kept: number | 'always' | 'whileUsed';
	/** The migration that made it; left out: the first. */
	readonly since?: number;
}

/** Keys, and what values are bound to, are columns of their table. */
export const tables = <const All extends Readonly<Record<string, Table>>>(
	all: All & { readonly [Name in keyof All]: Checked<keyof All[Name]['columns']> },
): All => all;

type Checked<Name extends PropertyKey> = {
	readonly key: readonly Name[];
	readonly unique?: readonly (readonly Name[])[];
	readonly columns: Readonly<Record<Name, { type: string; bound?: readonly Name[] }>>;
};

export const SESSION = { service: text, sessionId: text };
export const QUESTION = { ...SESSION, messageIndex: integer };
export const PERSON_COLUMNS = { teamId: text, userId: personId };
export const CHANNEL = { teamId: text, channelId: text };
/** The columns of a lease, which is shorter than a minute (`LEASE_MS` at most). Null while nobody holds the row. */
export const LEASE = {
	leaseToken: orNull(text),
	leasedUntil: orNull(ahead(MINUTE_MS, { becomesMs: MINUTE_MS, lasts: true })),
};

export const OF_SESSION = ['service', 'sessionId'] as const;
export const OF_PERSON = [...OF_SESSION, 'teamId', 'userId'] as const;
