/* Questions as input blocks, and the way back from what Slack hands in. */

export { buildForm, type Form } from './form/build.ts';
export { labelOf } from './form/field-blocks.ts';
export { PUT_LIMIT_BYTES, putOverheadBytes } from './form/put-size.ts';
export { type FormReading, readForm } from './form/read.ts';
