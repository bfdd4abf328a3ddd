/*
 * The only entrance: `npm run check:structure` forbids other folders to import another file of this one.
 *
 * `createFakeSlack` starts a fake, and `FakeSlack` describes it. `Actor`, `Modal` and `Posted` are a person, a modal
 * and a message as that person sees them. The other exports are workspaces, a clock that tests move, the validator
 * alone, and what a page or a test needs to read the app's manifest, state and traffic.
 */
export type { Clock } from './clock.ts';
export type { Actor } from './driver/actor.ts';
export type { Modal } from './driver/modal.ts';
export type { Posted } from './driver/posted.ts';
export { createFakeSlack, type FakeSlack, type FakeSlackOptions } from './fake-slack.ts';
export { signedHeaders } from './http-delivery.ts';
export { freshInput } from './input-state.ts';
export { isRecord, type Json, record, records, text } from './json.ts';
export { type Definitions, manifestDefinitions } from './json-schema/slack-schema.ts';
export { type Manifest, readManifest } from './manifest.ts';
export { createManualClock, type ManualClock } from './manual-clock.ts';
export type { Viewer } from './payloads.ts';
export { type Act, actSchema } from './people/acts.ts';
export { sampleOrganisation, sampleWorkspace, seedState, withMembers } from './seed.ts';
export type { Message, SlackState } from './state.ts';
export { callSlack } from './test-calls.ts';
export type { TrafficEntry } from './traffic.ts';
export { validateMessage, validateResponseActionErrors, validateView } from './validation/index.ts';
export { canMeet, canOpen, sees } from './visibility.ts';
