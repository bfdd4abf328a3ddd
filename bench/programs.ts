import { copySource } from '../test/faults/source-copy.ts';

/** Copies of the programs that are measured in turn: of the commit `former`, if there is one, and of the working tree. */
export async function copyPrograms(former: string | null) {
	await using stack = new AsyncDisposableStack();
	const programs: { readonly name: string; readonly entry: string }[] = [];
	for (const commit of former === null ? [null] : [former, null]) {
		const { entry } = stack.use(await copySource({ commit }));
		programs.push({ name: commit ?? 'working tree', entry });
	}
	const owned = stack.move();
	return { programs, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}
