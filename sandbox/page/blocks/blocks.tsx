import { lazy, memo, Suspense, useRef } from 'react';
import { each } from '../each.tsx';
import { isRecord, type Json, list, obj, str } from '../json.ts';
import { Control } from './control.tsx';
import { Element } from './element.tsx';
import { BlockImage } from './image.tsx';
import { Mrkdwn } from './mrkdwn.tsx';
import { RichText } from './rich-text.tsx';
import { useSurface } from './surface.ts';
import { Table } from './table.tsx';
import { TextObject, words } from './text-object.tsx';

/** Only messages with such blocks need the library, which is most of the page's size. */
const RichBlock = lazy(() => import('./rich.tsx').then((module) => ({ default: module.RichBlock })));

function Section({ block }: { block: Json }) {
	const accessory = obj(block, 'accessory');
	const fields = list(block, 'fields');
	return (
		<div className="block-section">
			<div className="section-main">
				{isRecord(block.text) ? <TextObject of={block.text} /> : null}
				{fields.length === 0 ? null : (
					<div className="section-fields">
						{each(fields, (field) => (
							<div>
								<TextObject of={field} />
							</div>
						))}
					</div>
				)}
			</div>
			{accessory === null ? null : (
				<div className="section-accessory">
					{str(accessory, 'type') === 'image' ? (
						<BlockImage of={accessory} className="accessory-image" />
					) : (
						<Element blockId={str(block, 'block_id')} element={accessory} about={words(block.text ?? fields[0])} />
					)}
				</div>
			)}
		</div>
	);
}

function Context({ block }: { block: Json }) {
	return (
		<div className="block-context">
			{each(list(block, 'elements'), (element) =>
				str(element, 'type') === 'image' ? (
					<BlockImage of={element} className="context-image" />
				) : (
					<span className="context-text">
						<TextObject of={element} />
					</span>
				),
			)}
		</div>
	);
}

function Input({ block }: { block: Json }) {
	const surface = useSurface();
	const blockId = str(block, 'block_id');
	const element = obj(block, 'element') ?? {};
	const base = `${surface.id}-${blockId}`;
	const error = surface.fieldErrors[blockId];
	const hint = words(block.hint);
	const isOptional = block.optional === true;
	const described = [hint === '' ? '' : `hint-${base}`, error === undefined ? '' : `error-${base}`];
	const type = str(element, 'type');
	// A group of choices is named by its label, and a click on the label focuses nothing in it.
	const isGroup = ['radio_buttons', 'checkboxes'].includes(type);
	const label = (
		<>
			<span id={`label-${base}`}>
				{words(block.label)}
				{isOptional ? <span className="optional"> (optional)</span> : null}
			</span>
			{isOptional ? null : (
				<span className="required" aria-hidden="true">
					*
				</span>
			)}
		</>
	);
	return (
		<div className={error === undefined ? 'block-input' : 'block-input block-input-wrong'} data-block-id={blockId}>
			{isGroup ? (
				<div className="label">{label}</div>
			) : (
				<label className="label" htmlFor={`control-${base}`}>
					{label}
				</label>
			)}
			<Control
				blockId={blockId}
				element={element}
				labelId={`label-${base}`}
				describedBy={described.filter(Boolean).join(' ') || undefined}
				isInvalid={error !== undefined}
				isRequired={!isOptional}
			/>
			{error === undefined ? null : (
				<p className="field-error" id={`error-${base}`} role="alert">
					{error}
				</p>
			)}
			{hint === '' ? null : (
				<p className="hint" id={`hint-${base}`}>
					{hint}
				</p>
			)}
		</div>
	);
}

function Header({ block }: { block: Json }) {
	const Heading = useSurface().id === 'home' ? 'h2' : 'h3';
	return <Heading className="block-header">{words(block.text)}</Heading>;
}

function OneBlock({ block }: { block: Json }) {
	switch (str(block, 'type')) {
		case 'section':
			return <Section block={block} />;
		case 'context':
			return <Context block={block} />;
		case 'divider':
			return <hr className="block-divider" />;
		case 'header':
			return <Header block={block} />;
		case 'image':
			return (
				<figure className="block-image">
					{words(block.title) === '' ? null : <figcaption>{words(block.title)}</figcaption>}
					<BlockImage of={block} className="image" />
				</figure>
			);
		case 'actions':
			return (
				<div className="block-actions">
					{list(block, 'elements').map((element) => (
						<Element key={str(element, 'action_id')} blockId={str(block, 'block_id')} element={element} />
					))}
				</div>
			);
		case 'input':
			return <Input block={block} />;
		case 'rich_text':
			return <RichText block={block} />;
		case 'table':
			return <Table block={block} />;
		default:
			return (
				<div className="block-rich">
					<Suspense fallback={<Mrkdwn text={str(block, 'text')} />}>
						<RichBlock block={block} />
					</Suspense>
				</div>
			);
	}
}

/** Elements that hold a value: another block_id empties them. */
const HOLDS_VALUE = /_select$|_buttons$|_input$|^checkboxes$|picker$/;
const holdsValue = (block: Json) =>
	str(block, 'type') === 'input' ||
	[...list(block, 'elements'), obj(block, 'accessory')].some((one) => HOLDS_VALUE.test(str(one, 'type')));
/** What the block shows and does, whatever its block_id. */
const saying = (block: Json) => JSON.stringify({ ...block, block_id: '' });

/**
 * A key for each block, so that it keeps its elements while it has its block_id, and also when the app only gives it
 * another one: an element that is replaced between the two halves of a click is not pressed.
 */
function useBlockKeys(blocks: readonly Json[]): ReadonlyMap<Json, string> {
	const last = useRef<{ of: readonly Json[]; keys: ReadonlyMap<Json, string> }>({ of: [], keys: new Map() });
	const count = useRef(0);
	if (last.current.of === blocks) return last.current.keys;
	const left = new Map(last.current.of.map((block) => [str(block, 'block_id'), block]));
	const keys = new Map<Json, string>();
	/** Gives the block the key of the one that `former` has under this name. */
	const take = (block: Json, former: Map<string, Json>, name: string) => {
		const previous = former.get(name);
		if (previous === undefined) return;
		keys.set(block, last.current.keys.get(previous) ?? '');
		former.delete(name);
	};
	for (const block of blocks) take(block, left, str(block, 'block_id'));
	const said = new Map(Array.from(left.values(), (block) => [saying(block), block]));
	for (const block of blocks) {
		if (!keys.has(block) && !holdsValue(block)) take(block, said, saying(block));
	}
	for (const block of blocks) {
		if (!keys.has(block)) keys.set(block, `block ${++count.current}`);
	}
	last.current = { of: blocks, keys };
	return keys;
}

interface BlocksProps {
	blocks: readonly Json[];
	/** A screen reader says the first block when it changes: what the modal has come to. */
	isFirstSpoken?: boolean;
}

export const Blocks = memo(function Blocks({ blocks, isFirstSpoken = false }: BlocksProps) {
	const spoken = isFirstSpoken && str(blocks[0], 'type') !== 'input' ? blocks.slice(0, 1) : [];
	const keys = useBlockKeys(blocks);
	const draw = (block: Json) => <OneBlock key={keys.get(block)} block={block} />;
	return (
		<div className="blocks">
			{isFirstSpoken ? <div role="status">{spoken.map(draw)}</div> : null}
			{blocks.slice(spoken.length).map(draw)}
		</div>
	);
});
