import { parentPort, workerData } from 'node:worker_threads';
import { FLOODS, type FloodName, type Target } from './http-floods.ts';

/** The flood runs in its own thread, so that it does not slow the fake Slack down. */
const { name, target } = workerData as { readonly name: FloodName; readonly target: Target };
parentPort?.postMessage(await FLOODS[name](target));
