import { isRecord, type Json, str } from '../json.ts';
import { RichText } from './rich-text.tsx';

function Cell({ of }: { of: unknown }) {
	if (str(of, 'type') !== 'rich_text' || !isRecord(of)) return str(of, 'text');
	return <RichText block={of} />;
}

/** A table, whose first row is its head. */
export function Table({ block }: { block: Json }) {
	const settings = Array.isArray(block.column_settings) ? block.column_settings : [];
	const [head = [], ...rows] = (Array.isArray(block.rows) ? block.rows : [])
		.map((row) => (Array.isArray(row) ? row : []))
		.map((row) => row.map((cell: unknown, column) => ({ cell, column })));
	const look = (column: number) => {
		const setting: unknown = settings[column];
		return `cell-${str(setting, 'align') || 'left'}${isRecord(setting) && setting.is_wrapped === true ? ' cell-wrapped' : ''}`;
	};
	return (
		<div className="block-table">
			<table>
				<thead>
					<tr>
						{head.map(({ cell, column }) => (
							<th key={column} scope="col" className={look(column)}>
								<Cell of={cell} />
							</th>
						))}
					</tr>
				</thead>
				<tbody>
					{rows
						.map((row, place) => ({ row, place }))
						.map(({ row, place }) => (
							<tr key={place}>
								{row.map(({ cell, column }) => (
									<td key={column} className={look(column)}>
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
