import {
	ColumnNode,
	DeleteQueryNode,
	InsertQueryNode,
	type KyselyPlugin,
	type PluginTransformQueryArgs,
	type PluginTransformResultArgs,
	type RootOperationNode,
	TableNode,
	UpdateQueryNode,
} from 'kysely';
import type { QueuedRows } from '../core/lease-loop.ts';
import { type LeasedTable, type Tables, WITHOUT_LEASE } from './tables.ts';

/** What a transaction of this process has changed. */
export interface Committed {
	/** Where it added, changed or removed rows. A row that was only leased, or given back, is as it was. */
	readonly tables: ReadonlySet<keyof Tables>;
	/** Ids of the users whose acts changed what people see of questions, see `noteQuestions`; null: nobody's. */
	readonly questionsBy: ReadonlySet<string | null>;
}

/** The bus: `record` collects what a transaction changes, and listeners are told after its commit. A rollback tells nothing. */
export function createBus(lookEveryMs: number) {
	const listeners: ((committed: Committed) => void)[] = [];
	const onCommit = (listener: (committed: Committed) => void) => void listeners.push(listener);
	return {
		/** `run` resolves when it is committed, and has made all its queries with the plugin. */
		async record<T>(run: (changes: KyselyPlugin) => Promise<T>): Promise<T> {
			const changes = new Changes();
			const value = await run(changes);
			for (const listener of listeners) listener(changes);
			return value;
		},
		/** Calls `listener` after each commit of this process, before its writer goes on. It must not throw. */
		onCommit,
		queuedRows: (table: LeasedTable): QueuedRows => ({
			onChange: (listener) => onCommit(({ tables }) => tables.has(table) && listener()),
			lookEveryMs,
		}),
	};
}

/** What a transaction has changed, as a plugin of its queries. */
export class Changes implements Committed, KyselyPlugin {
	readonly tables = new Set<keyof Tables>();
	readonly questionsBy = new Set<string | null>();
	readonly #writes = new WeakMap<object, keyof Tables>();

	transformQuery({ node, queryId }: PluginTransformQueryArgs): RootOperationNode {
		const table = writtenTable(node);
		if (table !== null) this.#writes.set(queryId, table);
		return node;
	}

	async transformResult({ queryId, result }: PluginTransformResultArgs) {
		const table = this.#writes.get(queryId);
		if (table !== undefined && (result.rows.length > 0 || (result.numAffectedRows ?? 0n) > 0n)) this.tables.add(table);
		return result;
	}
}

/** Null for a query in plain SQL too: the only one that writes takes leases (`leaseDue`). */
function writtenTable(node: RootOperationNode): keyof Tables | null {
	const isUpdate = UpdateQueryNode.is(node);
	if (isUpdate && node.updates?.every(({ column: of }) => ColumnNode.is(of) && of.column.name in WITHOUT_LEASE))
		return null;
	const ofOther = InsertQueryNode.is(node) ? node.into : DeleteQueryNode.is(node) ? node.from.froms[0] : undefined;
	const table = isUpdate ? node.table : ofOther;
	return table !== undefined && TableNode.is(table) ? (table.table.identifier.name as keyof Tables) : null;
}
