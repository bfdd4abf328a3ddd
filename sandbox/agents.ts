import type { FakeSessionService } from '../fake-session-service/fake-session-service.ts';
import type { WireAgent, WireDashboardSession } from './wire.ts';

/** The open items in the newest question of a session, as the service's web page counts them. */
function openQuestion(service: FakeSessionService, id: string): WireDashboardSession['open'] {
	const json = service.sessions.get(id);
	if (['completed', 'failed', 'stopped'].includes(json.status ?? '')) return null;
	const messageIndex = service.sessions.askingIndex(id);
	const items = json.messages?.[messageIndex]?.human_input ?? [];
	if (items.length === 0 || items.some((one) => (one.value ?? '') !== '')) return null;
	return {
		messageIndex,
		items: items.map((one) => ({ title: one.title ?? '', description: one.description ?? '' })),
	};
}

/** The link that people copy from the dashboard's address bar. */
function dashboardLink(dashboardUrl: string, id: string): string {
	return `${dashboardUrl}/sessions/session?id=${encodeURIComponent(id)}`;
}

/** The sessions of the service for the page's panel, in the order of their start. */
export function agentsOnPage(service: FakeSessionService, dashboardUrl: string): WireAgent[] {
	const known = new Set(service.sessions.scenarios.map((one) => one.id));
	return service.sessions.ids().map((id) => {
		const json = service.sessions.get(id);
		return {
			id,
			name: json.name ?? '',
			status: json.status ?? '',
			scenario: known.has(id) ? id : null,
			steps: json.messages?.filter((one) => one?.role === 'assistant').length ?? 0,
			link: dashboardLink(dashboardUrl, id),
			asks: openQuestion(service, id)?.items.map((one) => one.title || one.description) ?? [],
		};
	});
}

/** Null when there is no such session. */
export function dashboardSession(service: FakeSessionService, id: string): WireDashboardSession | null {
	if (!service.sessions.has(id)) return null;
	const json = service.sessions.get(id);
	return {
		id,
		name: json.name ?? '',
		status: json.status ?? '',
		messages: (json.messages ?? []).map((one) => ({ role: one?.role ?? '', content: one?.content ?? '' })),
		open: openQuestion(service, id),
	};
}
