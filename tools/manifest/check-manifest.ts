import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { parseDocument } from 'yaml';
import { type Definitions, manifestDefinitions as slackDefinitions } from '../../fake-slack/index.ts';
import { knownEvents, knownScopes } from './known.ts';
import { type Manifest, manifestRules } from './rules.ts';

/** The shape of a manifest as @slack/web-api types it, without unknown fields at the top level. */
export function manifestDefinitions(): Definitions {
	return { ...slackDefinitions, Manifest: { ...slackDefinitions.Manifest, additionalProperties: false } };
}

function words({ keyword, params, message = 'is wrong' }: ErrorObject): string {
	if (keyword === 'additionalProperties') return `does not know ${params.additionalProperty}`;
	if (keyword === 'required') return `needs ${params.missingProperty}`;
	return message;
}

/** Scopes and events have lists of their own, with clearer messages than an enumeration of a hundred names. */
const hasOwnList = /^\/(oauth_config\/scopes|settings\/event_subscriptions)\/\w+\/\d+$/;

let compiled: ValidateFunction | undefined;

function shapeProblems(manifest: unknown): string[] {
	compiled ??= new Ajv({ allErrors: true, strict: false }).compile({
		$ref: '#/definitions/Manifest',
		definitions: manifestDefinitions(),
	});
	const check = compiled;
	if (check(manifest)) return [];
	return (check.errors ?? [])
		.filter((error) => !(error.keyword === 'enum' && hasOwnList.test(error.instancePath)))
		.map((error) => `${error.instancePath || '/'} ${words(error)}`);
}

/**
 * What Slack would refuse in a manifest, and what Handraise does not want in it: scopes and events outside our own
 * list, events without their scope, addresses that do not fit the transport. One line each; empty when there is no
 * problem.
 */
export function checkManifest(yaml: string): string[] {
	const document = parseDocument(yaml);
	if (document.errors.length > 0) return document.errors.map((error) => error.message.split('\n')[0] ?? error.code);
	const manifest: unknown = document.toJS();
	const shape = shapeProblems(manifest);
	// The rules read fields. Where a field has the wrong shape they would only repeat that, less clearly.
	if (shape.length > 0) return shape;
	return manifestRules({ knownScopes, knownEvents }).flatMap((rule) => rule(manifest as Manifest));
}
