export type { Actor, Wanted } from './driver/actor.ts';
export type { Field } from './driver/controls.ts';
export type { Modal, SubmitResult } from './driver/modal.ts';
export type { Posted } from './driver/posted.ts';
export type { CallFault, Faults } from './faults.ts';
export { createSlackStandIn, type SlackStandIn, type SlackStandInOptions } from './stand-in.ts';
export type { SlackState } from './state.ts';
export type { Traffic, TrafficEntry, Violation } from './traffic.ts';
