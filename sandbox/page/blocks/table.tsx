import { each } from '../each.tsx';
import { isRecord, type Json, str } from '../json.ts';
import { RichText } from './rich-text.tsx';

function Cell({ of }: { of: unknown }) {
	if (str(of, 'type') !== 'rich_text' || !isRecord(of)) return str(of, 'text');
	return <RichText block={of} />;
}

/** A table, whose first row is its head. */
export function Table({ block }: { block: Json }) {
	const settings = Array.isArray(block.column_settings) ? block.column_settings : [];
	const all: readonly unknown[] = Array.isArray(block.rows) ? block.rows : [];
	const [head = [], ...rows] = all.map((row): unknown[] => (Array.isArray(row) ? row : []));
	const look = (column: number) => {
		const setting: unknown = settings[column];
		return `cell-${str(setting, 'align') || 'left'}${isRecord(setting) && setting.is_wrapped === true ? ' cell-wrapped' : ''}`;
	};
	return (
		<div className="block-table">
			<table>
				<thead>
					<tr>
						{each(head, (cell, column) => (
							<th scope="col" className={look(column)}>
								<Cell of={cell} />
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{each(rows, (row) => (
						<tr>
							{each(row, (cell, column) => (
								<td className={look(column)}>
									<Cell of={cell} />
								</td>
							))}
						</tr>
					))}
				</tbody>
			</table>
		</div>
	);
}

const isTable = (block: Json) => str(block, 'type') === 'table';

/** The blocks as a message shows them: Slack puts the table below everything else, buttons too. */
export const tableLast = (blocks: readonly Json[]) => [
	...blocks.filter((block) => !isTable(block)),
	...blocks.filter(isTable),
];
