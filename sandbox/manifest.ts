import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { manifestPath } from './manifest-path.ts';

const schema = z.object({
	display_information: z.object({ name: z.string() }),
	features: z.object({
		slash_commands: z.array(
			z.object({
				command: z.string(),
				description: z.string().default(''),
				usage_hint: z.string().default(''),
			}),
		),
		shortcuts: z.array(z.object({ type: z.string(), name: z.string(), callback_id: z.string() })).default([]),
	}),
});

export type Manifest = z.infer<typeof schema>;

/** What the page shows of the project's own manifest. */
export function readManifest(): Manifest {
	return schema.parse(parse(readFileSync(manifestPath, 'utf8')));
}
