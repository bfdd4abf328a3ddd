import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { useDo } from './actions.ts';
import { type AppTab, AppView } from './app-view.tsx';
import { NamesContext, namesOf } from './blocks/names.ts';
import { ChannelBody, ChannelView } from './channel-view.tsx';
import { LiveRegion } from './live-region.tsx';
import { ModalStack } from './modal-stack.tsx';
import { ClockContext } from './now.ts';
import type { createPageStore } from './page-state.ts';
import { Panel } from './panels/panel.tsx';
import { addressAs, usePlace } from './place.ts';
import { useRegionKey } from './region-key.ts';
import { Sidebar } from './sidebar.tsx';
import { Thread } from './thread.tsx';
import { Toasts } from './toast.tsx';
import { unreadOf } from './unread.ts';

type Store = ReturnType<typeof createPageStore>;

/** After this the sandbox has probably ended. */
const LATE_MS = 10_000;

function Starting() {
	const [isLate, setLate] = useState(false);
	useEffect(() => {
		const timer = setTimeout(() => setLate(true), LATE_MS);
		return () => clearTimeout(timer);
	}, []);
	if (!isLate) return <p role="status">Starting the workspace…</p>;
	return (
		<p role="alert">The sandbox does not respond. Look at its terminal, start it again there, and reload this page.</p>
	);
}

export function App({ store }: { store: Store }) {
	const { data, isConnected, isNobody } = useSyncExternalStore(store.subscribe, store.get);
	const [place, go] = usePlace();
	const [isSidebarOpen, setSidebarOpen] = useState(false);
	const doIt = useDo();
	const { workspace, channels } = data ?? {};
	// Every text follows it: it changes with its own parts only, not with every call of the app.
	const names = useMemo(
		() => (workspace === undefined || channels === undefined ? null : namesOf(workspace, channels)),
		[workspace, channels],
	);
	const title = data === null ? '' : `${data.workspace.me.realName} · ${data.workspace.team.name}`;
	useRegionKey();
	useEffect(() => {
		document.title = title === '' ? 'Handraise sandbox' : `${title} · Handraise sandbox`;
	}, [title]);

	if (data === null || names === null) {
		const name = new URLSearchParams(location.search).get('as') ?? '';
		return (
			<main className="starting">
				{isNobody ? (
					<p role="alert">
						Nobody in this workspace is called “{name}”.{' '}
						<a className="link" href={addressAs('ada')}>
							Be Ada
						</a>
					</p>
				) : (
					<Starting />
				)}
			</main>
		);
	}
	const { me, app } = data.workspace;
	const talk = data.channels.find((one) => one.isIm) ?? null;
	const isHome = app.hasHomeTab && place.tab === 'home';
	const channel = isHome ? talk : (data.channels.find((one) => one.id === place.channel) ?? data.channels[0] ?? null);
	const parent = data.messages.find((one) => one.channel === channel?.id && one.ts === place.thread) ?? null;
	const hasModal = data.modals.length > 0;
	const isApp = isHome || (talk !== null && channel === talk);
	const toggleSidebar = () => setSidebarOpen(!isSidebarOpen);
	async function openTab(tab: AppTab): Promise<void> {
		if (tab === 'home') return go({ channel: talk?.id ?? null, thread: null, tab });
		// Without a Home tab the messages are opened as any other conversation.
		const isKnown = talk !== null && !app.hasHomeTab;
		const opened = isKnown ? null : doIt<{ channel: string }>('act', { do: 'openApp', tab });
		// The answer comes when the app has acknowledged, which may take seconds.
		const id = talk?.id ?? (await opened)?.channel;
		if (id !== undefined) go({ channel: id, thread: null });
	}
	return (
		<ClockContext value={data.clock.offsetMs}>
			<NamesContext value={names}>
				<Toasts>
					<div className="workspace">
						<div className="slack">
							<div className={isSidebarOpen ? 'client client-sidebar' : 'client'} inert={hasModal}>
								<a className="skip" href={isHome ? '#app-home' : '#composer'}>
									{isHome ? 'Skip to Home' : 'Skip to the message box'}
								</a>
								{isConnected ? null : (
									<p className="offline" role="alert">
										The sandbox does not answer. Trying again…
									</p>
								)}
								<Sidebar
									data={data}
									current={channel?.id ?? null}
									isApp={isApp}
									onChoose={(id) => {
										setSidebarOpen(false);
										go({ channel: id, thread: null });
									}}
									onOpenApp={() => {
										setSidebarOpen(false);
										const hasUnread = talk !== null && unreadOf(data.messages, talk, me.id).length > 0;
										void openTab(app.hasHomeTab && !hasUnread ? 'home' : 'messages');
									}}
									onClose={() => setSidebarOpen(false)}
								/>
								{isApp && app.hasHomeTab ? (
									<AppView
										data={data}
										tab={isHome ? 'home' : 'messages'}
										onTab={(tab) => void openTab(tab)}
										onSidebar={toggleSidebar}
										messages={channel === null ? null : <ChannelBody key={channel.id} data={data} channel={channel} />}
									/>
								) : channel === null ? (
									<main className="channel">
										<p className="empty">This person is in no channel yet.</p>
									</main>
								) : (
									<ChannelView key={channel.id} data={data} channel={channel} onSidebar={toggleSidebar} />
								)}
								{channel === null || parent === null ? null : (
									<Thread
										key={parent.ts}
										data={data}
										channel={channel}
										parent={parent}
										onClose={() => go({ channel: channel.id, thread: null })}
									/>
								)}
							</div>
							<ModalStack modals={data.modals} workspace={data.workspace} />
						</div>
						<Panel data={data} />
					</div>
					<LiveRegion data={data} />
				</Toasts>
			</NamesContext>
		</ClockContext>
	);
}
