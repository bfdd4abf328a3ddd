import { type KeyboardEvent, useEffect, useId, useLayoutEffect, useRef, useState } from 'react';
import type { WireChannel, WireWorkspace } from '../wire.ts';
import { useDo } from './actions.ts';
import { type Completion, completionsFor } from './completions.ts';
import { Icon } from './icons.tsx';
import { useToast } from './toast.tsx';
import { takesTyped } from './typed.ts';

interface ComposerProps {
	id: string;
	workspace: WireWorkspace;
	channel: WireChannel;
	thread: string | null;
	label: string;
}

export function Composer({ id, workspace, channel, thread, label }: ComposerProps) {
	const doIt = useDo();
	const toast = useToast();
	const [text, setText] = useState('');
	const [active, setActive] = useState(0);
	const [dismissed, setDismissed] = useState<string | null>(null);
	const box = useRef<HTMLTextAreaElement>(null);
	const listId = useId();
	const joinButton = useRef<HTMLButtonElement>(null);
	const wasMember = useRef(channel.isMember);
	const completions = dismissed === text ? [] : completionsFor(text, workspace, thread !== null);
	const choices = completions.filter((one) => one.insert !== null);
	const chosen = choices[Math.min(active, choices.length - 1)] ?? null;

	// biome-ignore lint/correctness/useExhaustiveDependencies: the text decides how high the box is.
	useLayoutEffect(() => {
		const element = box.current;
		if (element === null) return;
		element.rows = Math.min(8, Math.max(1, element.value.split('\n').length));
	}, [text]);

	// Joining and leaving replace the control that had the focus.
	useLayoutEffect(() => {
		if (wasMember.current === channel.isMember) return;
		wasMember.current = channel.isMember;
		if (document.activeElement === document.body) (box.current ?? joinButton.current)?.focus();
	}, [channel.isMember]);

	// As in Slack, who opens a channel or a thread can type at once. A tab keeps the focus, and so does a window above it.
	useEffect(() => {
		const isElsewhere = document.activeElement?.closest('[role="dialog"], [role="tab"]') != null;
		if (!isElsewhere && document.querySelector('[role="dialog"]') === null) box.current?.focus({ preventScroll: true });
	}, []);
	useEffect(() => {
		if (thread !== null) return undefined;
		return takesTyped((typed) => {
			setText(typed);
			setDismissed(typed);
			box.current?.focus();
		});
	}, [thread]);

	function take(completion: Completion): void {
		if (completion.insert === null) return;
		setText(completion.insert);
		setActive(0);
		box.current?.focus();
	}
	async function send(): Promise<void> {
		const typed = text.trim();
		if (typed === '') return;
		setText('');
		const isCommand = typed.startsWith('/') && thread === null;
		const answer = isCommand
			? await doIt('act', { do: 'command', channel: channel.id, line: typed })
			: await doIt('act', {
					do: 'say',
					channel: channel.id,
					text: typed,
					...(thread === null ? {} : { threadTs: thread }),
				});
		if (answer.error !== undefined && answer.error !== null && !isCommand) {
			toast(String(answer.error));
			setText(typed);
		}
	}
	async function join(): Promise<void> {
		const { error } = await doIt('act', { do: 'join', channel: channel.id });
		if (error !== undefined) toast(error);
	}
	function onKeyDown(event: KeyboardEvent<HTMLTextAreaElement>): void {
		if (event.nativeEvent.isComposing) return;
		const isOpen = choices.length > 0;
		if (isOpen && event.key === 'ArrowDown') setActive((active + 1) % choices.length);
		else if (isOpen && event.key === 'ArrowUp') setActive((active + choices.length - 1) % choices.length);
		else if (isOpen && chosen !== null && event.key === 'Tab' && !event.shiftKey) take(chosen);
		else if (completions.length > 0 && event.key === 'Escape') setDismissed(text);
		else if (event.key === 'Enter' && !event.shiftKey) {
			if (isOpen && chosen !== null && chosen.insert?.trim() !== text.trim()) take(chosen);
			else void send();
		} else return;
		event.preventDefault();
	}
	if (!channel.isMember) {
		return (
			<div className="composer">
				<div className="composer-notice">
					<p>
						You are not in <b>#{channel.name}</b>: you can read it, and others write.
					</p>
					<button type="button" className="button" ref={joinButton} onClick={() => void join()}>
						Join channel
					</button>
				</div>
			</div>
		);
	}
	const starts = [
		{ mark: '/', label: 'Slash command', insert: '/' },
		{ mark: '@', label: 'Mention somebody', insert: `${text}${/^$| $/.test(text) ? '' : ' '}@` },
	];
	return (
		<div className="composer">
			{completions.length === 0 ? null : (
				<div className="completions">
					<div role="listbox" id={listId} aria-label="Suggestions">
						{completions.map((one) => (
							<div
								key={one.key}
								id={`${listId}-${one.key}`}
								role="option"
								tabIndex={-1}
								aria-selected={one === chosen}
								aria-disabled={one.insert === null || undefined}
								className={one === chosen ? 'completion completion-active' : 'completion'}
								onMouseDown={(event) => {
									event.preventDefault();
									take(one);
								}}
							>
								<b>{one.title}</b> <span className="completion-hint">{one.hint}</span>
								<span className="completion-about">{one.about}</span>
							</div>
						))}
					</div>
					<p className="completions-foot" aria-hidden="true">
						<kbd>↑</kbd> <kbd>↓</kbd> to choose · <kbd>Tab</kbd> to take · <kbd>Enter</kbd> to send
					</p>
				</div>
			)}
			<div className="composer-box">
				<textarea
					ref={box}
					id={id}
					rows={1}
					value={text}
					aria-label={label}
					placeholder={label}
					aria-controls={completions.length === 0 ? undefined : listId}
					aria-autocomplete="list"
					aria-activedescendant={chosen === null ? undefined : `${listId}-${chosen.key}`}
					onChange={(event) => {
						setText(event.target.value);
						setActive(0);
						setDismissed(null);
					}}
					onKeyDown={onKeyDown}
				/>
				<div className="composer-tools">
					{starts.map(({ mark, label: words, insert }) => (
						<button
							key={mark}
							type="button"
							title={words}
							aria-label={words}
							onClick={() => {
								setText(insert);
								box.current?.focus();
							}}
						>
							<span aria-hidden="true">{mark}</span>
						</button>
					))}
					<button
						type="button"
						className="send"
						aria-label="Send"
						disabled={text.trim() === ''}
						onClick={() => {
							void send();
							box.current?.focus();
						}}
					>
						<Icon name="send" />
					</button>
				</div>
			</div>
		</div>
	);
}
