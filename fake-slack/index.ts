/*
 * The one way in: nothing outside this folder imports another file of it (the linter sees to that).
 *
 * `createFakeSlack` starts one, and `FakeSlack` says what can be done with it; `Actor`, `Modal` and `Posted` are a person,
 * a modal and a message as that person sees them. The rest are workspaces to begin with, a clock that tests move, the
 * validator by itself, and what a page or a test needs to read the app's manifest, state and traffic.
 */
export type { Clock } from './clock.ts';
export type { Actor } from './driver/actor.ts';
export type { Modal } from './driver/modal.ts';
export type { Posted } from './driver/posted.ts';
export { createFakeSlack, type FakeSlack, type FakeSlackOptions } from './fake-slack.ts';
export { signedHeaders } from './http-delivery.ts';
export { isRecord, type Json, record, records, text } from './json.ts';
export { type Definitions, generatedDefinitions } from './json-schema/generated-schema.ts';
export { type Manifest, readManifest } from './manifest.ts';
export { createManualClock, type ManualClock } from './manual-clock.ts';
export type { Viewer } from './payloads.ts';
export { type Act, actSchema } from './people/acts.ts';
export { sampleOrganisation, sampleWorkspace, seedState, withMembers } from './seed.ts';
export type { Message, SlackState } from './state.ts';
export { callSlack } from './test-calls.ts';
export type { TrafficEntry } from './traffic.ts';
export { validateMessage, validateResponseActionErrors, validateView } from './validation/index.ts';
