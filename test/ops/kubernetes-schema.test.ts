import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';

// biome-ignore lint/suspicious/noExplicitAny: files of YAML have any shape until the schema has checked them
type Any = any;

it('each field of the Kubernetes manifests is one of its API', () => {
	const path = fileURLToPath(new URL('kubernetes-api.d.ts', import.meta.url));
	const generator = createGenerator({ path, skipTypeCheck: true, additionalProperties: false, jsDoc: 'none' });
	const ajv = new Ajv({ strict: false });
	const schemas = new Map<string, ReturnType<typeof ajv.compile>>();
	function problemsOf(one: Any): string[] {
		const check = schemas.get(one.kind) ?? ajv.compile(generator.createSchema(one.kind) as object);
		schemas.set(one.kind, check);
		return check(one) ? [] : [ajv.errorsText(check.errors)];
	}
	const root = fileURLToPath(new URL('../../', import.meta.url));
	const manifests: Any[] = globSync(`${root}ops/kubernetes*.yaml`).flatMap((file) =>
		parseAllDocuments(readFileSync(file, 'utf8'), { strict: true }).map((document) => document.toJS()),
	);
	expect(manifests).toHaveLength(7);
	for (const one of manifests) expect(problemsOf(one)).toEqual([]);

	const deployment = manifests.find(({ kind }) => kind === 'Deployment');
	deployment.spec.template.spec.containers[0].securityContext.readOnlyRootFileSystem = true;
	expect(problemsOf(deployment)).not.toEqual([]);
});
