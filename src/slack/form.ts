/* Questions as input blocks, and the way back from what Slack hands in. */

export { buildForm, type Form } from './form/build.ts';
export { asksTheSame } from './form/plan.ts';
export { PUT_LIMIT_BYTES } from './form/put-size.ts';
export { type FormReading, readForm, secretBoxId } from './form/read.ts';
