import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { createGenerator } from 'ts-json-schema-generator';
import { parse, parseAllDocuments } from 'yaml';
import { parseConfig, readSettings } from '../../src/config.ts';
import { describe, expect, it, startApp } from '../kit.ts';

// What ops/ says to systemd, Kubernetes and Compose has to be what the program reads, serves and needs.

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const text = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const KUBERNETES = ['ops/kubernetes.yaml', 'ops/kubernetes-postgres.yaml', 'ops/kubernetes-restore.yaml'];
const { version, scripts } = JSON.parse(text('package.json')) as { version: string; scripts: Record<string, string> };
const IMAGE = text('Dockerfile');
/** As in the image, in the unit and in `npm start`. */
const START = 'MALLOC_TRIM_THRESHOLD_=131072 node --max-semi-space-size=4 src/main.ts';
/** Seconds. */
const STOPS_WITHIN =
	Number((/STOP_WITHIN_MS = ([\d_]+)/.exec(text('src/main.ts'))?.[1] ?? '').replace('_', '')) / 1_000;

// Files of YAML have any shape until the schema has checked them.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Any = any;
const documents = (name: string): Any[] => parseAllDocuments(text(name), { strict: true }).map((one) => one.toJS());
const only = (name: string, kind: string): Any => documents(name).filter((one) => one.kind === kind)[0];

/** The environment and the secret files that a way of running gives the program. */
interface Given {
	readonly env: Readonly<Record<string, string>>;
	/** Where a secret of this name is mounted. */
	readonly secretPath: (name: string) => string;
	readonly secrets: readonly string[] | null;
}

const podOf = (file: string): Any => only(file, 'Deployment').spec.template.spec;
/** Of each Deployment. */
const PODS = ['ops/kubernetes.yaml', 'ops/kubernetes-postgres.yaml'];

function ofPod(file: string): Given {
	const [container] = podOf(file).containers;
	const mount = container.volumeMounts.find(({ name }: Any) => name === 'secrets').mountPath;
	const env = Object.fromEntries(container.env.map(({ name, value }: Any) => [name, value]));
	// `kubectl create secret` in ops/README.md makes the keys.
	return { env, secretPath: (name) => join(mount, name), secrets: null };
}

function ofUnit(): Given {
	const unit = text('ops/handraise.service');
	const env = Object.fromEntries(
		[...unit.matchAll(/^Environment=(.*)$/gm)].flatMap(([, line = '']) =>
			line.split(' ').map((pair) => pair.split('=') as [string, string]),
		),
	);
	const secrets = [...unit.matchAll(/^LoadCredential=([\w-]+):\/etc\/handraise\/\1$/gm)].map(([, name = '']) => name);
	return { env: { ...env, SESSION_SERVICE_URL: 'https://from.env' }, secretPath: (name) => `%d/${name}`, secrets };
}

function ofCompose(): Given {
	const { handraise } = parse(text('ops/compose.yaml')).services;
	const env = { ...handraise.environment, SESSION_SERVICE_URL: 'https://from.env' };
	return { env, secretPath: (name) => `/run/secrets/${name}`, secrets: handraise.secrets };
}

const SECRETS: Readonly<Record<string, string>> = {
	'slack-bot-token': 'xoxb-1',
	'slack-app-token': 'xapp-1',
	'session-service-api-key': 'key',
	'database-url': 'postgres://handraise:secret@postgres/handraise',
	'encryption-key': 'ab'.repeat(32),
};

it.each<[string, (file: string) => Given, 'sqlite' | 'postgres']>([
	['ops/handraise.service', ofUnit, 'sqlite'],
	['ops/compose.yaml', ofCompose, 'postgres'],
	['ops/kubernetes.yaml', ofPod, 'sqlite'],
	['ops/kubernetes-postgres.yaml', ofPod, 'postgres'],
])('%s gives the program settings that it knows, and secrets from files that are there', (file, given, database) => {
	const { env, secretPath, secrets } = given(file);
	const directory = mkdtempSync(join(tmpdir(), 'handraise-secrets-'));
	const files = Object.entries(env).filter(([name]) => name.endsWith('_FILE'));
	const named = files.map(([, path]) => basename(path));
	expect(files.map(([, path]) => path)).toEqual(named.map(secretPath));
	if (secrets !== null) expect(secrets.toSorted()).toEqual(named.toSorted());
	const there = files.map(([name, path]) => {
		writeFileSync(join(directory, basename(path)), SECRETS[basename(path)] ?? 'no such secret');
		return [name, join(directory, basename(path))] as const;
	});
	const read = { ...env, ...Object.fromEntries(there) };
	const example = text('.env.example');
	const unknown = Object.keys(env).filter(
		(name) => !new RegExp(`^(# )?${name.replace(/_FILE$/, '')}=`, 'm').test(example),
	);
	expect(unknown.filter((name) => !/^(NODE_ENV|MALLOC_TRIM_THRESHOLD_)$/.test(name))).toEqual([]);
	expect(readSettings(read).unknown).toEqual([]);
	const config = parseConfig(read);
	rmSync(directory, { recursive: true });
	expect(config.DATABASE_URL === null ? 'sqlite' : 'postgres').toBe(database);
	expect(config.transport.kind).toBe('socket');
	expect(config.PORT).toBe(3000);
});

describe('Kubernetes', () => {
	it.each(PODS)('%s asks the paths that the program serves', async (name) => {
		const [container] = podOf(name).containers;
		const paths = ['startupProbe', 'livenessProbe', 'readinessProbe'].map((probe) => container[probe].httpGet);
		expect(paths.map(({ path }) => path)).toEqual(['/healthz', '/healthz', '/readyz']);
		expect([...paths.map(({ port }) => port), only(name, 'Service').spec.ports[0].targetPort]).toEqual(
			Array(4).fill(container.ports[0].name),
		);
		expect(container.ports[0].containerPort).toBe(3000);
		await using app = await startApp();
		for (const { path } of paths) expect((await fetch(`${app.url}${path}`)).status).toBe(200);
		expect((await fetch(`${app.url}/elsewhere`)).status).toBe(404);
	});

	it.each(KUBERNETES)('%s runs the image as its user, without rights and with a read-only root', (name) => {
		const spec = (only(name, 'Deployment')?.spec.template ?? only(name, 'Pod')).spec;
		expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
		expect(spec.automountServiceAccountToken).toBe(false);
		expect(spec.containers).toEqual([
			expect.objectContaining({
				image: `registry.example/handraise:${version}`,
				securityContext: {
					allowPrivilegeEscalation: false,
					readOnlyRootFilesystem: true,
					capabilities: { drop: ['ALL'] },
				},
			}),
		]);
	});

	it('has one name for the addresses of all replicas, ready or not, so that Prometheus scrapes each', () => {
		const file = 'ops/kubernetes-postgres.yaml';
		const services = documents(file).filter(({ kind }) => kind === 'Service');
		const headless = services.filter(({ spec }) => spec.clusterIP === 'None' && spec.publishNotReadyAddresses === true);
		const [{ metadata, spec }] = headless;
		expect([headless.length, spec.ports]).toEqual([1, only(file, 'Service').spec.ports]);
		expect(spec.selector).toEqual(only(file, 'Deployment').spec.template.metadata.labels);
		expect(text('ops/README.md')).toContain(`dns_sd_configs: [{ names: [${metadata.name}], type: A, port: 3000 }]`);
	});

	it('never runs two versions, nor two processes with SQLite', () => {
		const sqlite = only('ops/kubernetes.yaml', 'Deployment').spec;
		const postgres = only('ops/kubernetes-postgres.yaml', 'Deployment').spec;
		expect([sqlite.strategy.type, postgres.strategy.type]).toEqual(['Recreate', 'Recreate']);
		expect(sqlite.replicas).toBe(1);
		const claims = [only('ops/kubernetes-restore.yaml', 'Pod').spec, sqlite.template.spec].map(
			({ volumes }) => volumes[0].persistentVolumeClaim.claimName,
		);
		expect(claims).toEqual(Array(2).fill(only('ops/kubernetes.yaml', 'PersistentVolumeClaim').metadata.name));
		const mounts = sqlite.template.spec.containers[0].volumeMounts;
		expect(mounts.find(({ name }: Any) => name === 'data').mountPath).toBe(/DATA_DIR=(\S+)/.exec(IMAGE)?.[1]);
	});
});

it('everybody who stops Handraise waits longer than its drain', () => {
	const unit = Number(/^TimeoutStopSec=(\d+)$/m.exec(text('ops/handraise.service'))?.[1]);
	const compose = parse(text('ops/compose.yaml')).services.handraise.stop_grace_period;
	const graces = PODS.map((name) => podOf(name).terminationGracePeriodSeconds);
	expect(STOPS_WITHIN).toBe(9.5);
	for (const seconds of [unit, Number.parseInt(compose, 10), ...graces])
		expect(seconds).toBeGreaterThan(STOPS_WITHIN + 2);
});

it('the image and the unit start the program as npm start does, and nothing else starts it in another way', () => {
	const unit = text('ops/handraise.service');
	const ofImage = [/^ENV (MALLOC_.*)$/m.exec(IMAGE)?.[1], ...JSON.parse(/^CMD (.*)$/m.exec(IMAGE)?.[1] ?? '')];
	const unitLine = [/^Environment=(MALLOC_.*)$/m, /^ExecStart=\/usr\/bin\/(.*)$/m].map((line) => line.exec(unit)?.[1]);
	// `exec`: npm hands its signals to a shell, which would not hand them on.
	expect(scripts.start?.replace(/^node src\/check-node\.js && |exec | --env-file-if-exists=.env/g, '')).toBe(START);
	expect(ofImage.join(' ')).toBe(START);
	expect(unitLine.join(' ')).toBe(START);
	const pods = PODS.map((name) => podOf(name).containers[0]);
	for (const container of [parse(text('ops/compose.yaml')).services.handraise, ...pods]) {
		expect(Object.keys(container).filter((key) => /^(command|args|entrypoint)$/.test(key))).toEqual([]);
		expect(JSON.stringify(container)).not.toMatch(/MALLOC_|NODE_OPTIONS/);
	}
});

it('no image is named without a digest or a version of our own', () => {
	const { handraise, postgres } = parse(text('ops/compose.yaml')).services;
	expect(handraise).toMatchObject({ image: `handraise:${version}`, read_only: true, cap_drop: ['ALL'] });
	// Without a digest the build and Compose refuse to begin.
	for (const image of [postgres.image, /NODE_IMAGE=(.*)$/m.exec(IMAGE)?.[1]])
		expect(image).toMatch(/@sha256:([0-9a-f]{64}|fill-in-the-digest--see-ops\/README\.md)$/);
});

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
	const manifests = globSync('ops/kubernetes*.yaml', { cwd: ROOT }).flatMap(documents);
	expect(manifests).toHaveLength(8);
	for (const one of manifests) expect(problemsOf(one)).toEqual([]);

	const deployment = manifests.find(({ kind }) => kind === 'Deployment');
	deployment.spec.template.spec.containers[0].securityContext.readOnlyRootFileSystem = true;
	expect(problemsOf(deployment)).not.toEqual([]);
});
