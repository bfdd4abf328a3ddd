import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The released versions whose databases this one takes over. Each has a directory of its name, which the program of
 * that release made and nobody edits: the SQL of its schema and what the program left, for both databases.
 */
export const RELEASES = [{ version: '2.0.0', commit: 'e2959bf9', schema: 35 }] as const;

export type Release = (typeof RELEASES)[number];

export const STORES = ['sqlite', 'postgres'] as const;
export type StoreName = (typeof STORES)[number];

/** Where the files of a release are. */
export const directoryOf = ({ version }: Pick<Release, 'version'>) =>
	fileURLToPath(new URL(`${version}/`, import.meta.url));

/** What makes the schema of a release in an empty database, as that release did it. */
export const schemaOf = (release: Pick<Release, 'version'>, store: StoreName) =>
	readFileSync(`${directoryOf(release)}schema.${store}.sql`, 'utf8');
