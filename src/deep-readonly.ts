/** A type read-only at every depth: of values that a schema read. */
export type DeepReadonly<Value> = Value extends object
	? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
	: Value;
