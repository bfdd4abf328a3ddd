import type { ReadMessage, Session } from '../../../src/domain/session.ts';
import { buildSession, saying, unanswered } from '../../support/sessions.ts';
import type { Asked } from './history.ts';

export const SERVICE_URL = 'https://service.example';

interface Agent {
	readonly sessionId: string;
	messages: ReadMessage[];
	status: string;
	/** The newest question, open or not. */
	question: Asked | null;
}

/** A session service whose agents ask. */
export function createService({ now, questions }: { now: () => number; questions: Asked[] }) {
	const agents = new Map<string, Agent>();

	function agentOf(sessionId: string): Agent {
		const agent = agents.get(sessionId);
		if (agent === undefined) throw new Error(`there is no session ${sessionId}`);
		return agent;
	}

	function settle(question: Asked | null): void {
		if (question !== null) question.settledAt ??= now();
	}

	function ask(agent: Agent, text: (id: string) => string, changed: { readonly changedFrom?: string } = {}): Asked {
		const id = `q${questions.length + 1}`;
		settle(agent.question);
		const question: Asked = { id, sessionId: agent.sessionId, askedAt: now(), settledAt: null, ...changed };
		questions.push(question);
		agent.question = question;
		agent.status = 'humanInput';
		agent.messages.push({ ...saying('I need to know this.'), humanInput: [unanswered(text(id))] });
		return question;
	}

	return {
		isAway: false,
		add(sessionId: string): void {
			agents.set(sessionId, { sessionId, messages: [saying('Do it', 'user')], status: 'active', question: null });
		},
		/** The session asks, in place of any question before. */
		ask: (sessionId: string, text: (id: string) => string): Asked => ask(agentOf(sessionId), text),
		/** The newest message asks something else. */
		change(sessionId: string, text: (id: string) => string): Asked {
			const agent = agentOf(sessionId);
			agent.messages.pop();
			return ask(agent, text, agent.question === null ? {} : { changedFrom: agent.question.id });
		},
		/** Somebody's answer arrives, through Handraise or not. */
		answer(question: Asked, value: string): 'answered' | 'same' | 'too late' {
			const agent = agentOf(question.sessionId);
			if (agent.question !== question) return 'too late';
			const index = agent.messages.length - 1;
			const message = agent.messages[index] as ReadMessage;
			const [item] = message.humanInput;
			if (question.settledAt !== null || item === undefined) return item?.value === value ? 'same' : 'too late';
			agent.messages[index] = { ...message, humanInput: [{ ...item, value }] };
			agent.status = 'active';
			settle(question);
			return 'answered';
		},
		end(sessionId: string): void {
			const agent = agentOf(sessionId);
			agent.status = 'completed';
			settle(agent.question);
		},
		/** The newest question of a session, when it is open. */
		openQuestionOf(sessionId: string): Asked | null {
			const { question } = agentOf(sessionId);
			return question?.settledAt === null ? question : null;
		},
		indexOf(question: Asked): number {
			return agentOf(question.sessionId).messages.findLastIndex(({ humanInput }) =>
				humanInput.some(({ title }) => title.includes(`${question.id} `)),
			);
		},
		/** The session as a read returns it. Throws while the service is away. */
		read(sessionId: string): Session {
			if (this.isAway) throw Object.assign(new Error('away'), { code: 'service_unavailable' });
			return this.sessionOf(sessionId);
		},
		sessionOf(sessionId: string): Session {
			const { messages, status } = agentOf(sessionId);
			return buildSession({ sessionId, name: `Session ${sessionId}`, status, messages: [...messages] });
		},
	};
}

export type Service = ReturnType<typeof createService>;
