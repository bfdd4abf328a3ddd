import { DAY_MS, MINUTE_MS } from '../../kernel/clock.ts';
import { CLAIM_MS } from './answers.ts';
import {
	ahead,
	CHANNEL,
	fromZero,
	integer,
	json,
	LEASE,
	large,
	noted,
	OF_PERSON,
	OF_SESSION,
	orNull,
	PERSON_COLUMNS,
	personId,
	QUESTION,
	SESSION,
	sealed,
	tables,
	text,
} from './columns.ts';

/** The longest interval between two reads, however many sessions there are. */
export const LONGEST_INTERVAL_MS = 30 * MINUTE_MS;

/** 2.0.0 also snoozed until tomorrow 9:00: at most 33 hours, or 34 when clocks are put back. */
export const LONGEST_SNOOZE_MS = 36 * 60 * MINUTE_MS;

/** How long rows stay of watches that have ended, and of what was posted and asked under one that goes on. */
const WATCH_DAYS = 7;

/** What channels and people follow: sessions, their questions, the messages and inboxes that show them. */
export const WATCH_TABLES = tables({
	watches: {
		key: ['id'],
		columns: {
			id: text,
			...CHANNEL,
			...SESSION,
			mode: text,
			createdBy: personId,
			createdAt: noted,
			revision: fromZero,
			lastChangeAt: noted,
			endedReason: orNull(text),
			endedAt: orNull(noted),
		},
		indexes: {
			one_live: 'unique (team_id, channel_id, service, session_id)\n\t\twhere ended_at is null',
			session: '(service, session_id) where ended_at is null',
			ended: '(ended_at) where ended_at is not null',
			ended_in: '(team_id, channel_id, ended_at) where ended_at is not null',
			of_session: '(service, session_id)',
		},
		kept: WATCH_DAYS,
	},

	watched_sessions: {
		key: OF_SESSION,
		columns: {
			...SESSION,
			...LEASE,
			digest: orNull(json),
			/** The content of cards. */
			snapshot: orNull(sealed),
			/** Null while no watch is live. */
			nextReadAt: orNull(ahead(LONGEST_INTERVAL_MS, { lasts: true })),
			readBy: ahead(60 * MINUTE_MS, { lasts: true }),
			/** When the newest successful read began. */
			lastReadAt: orNull(noted),
			/** When the newest read began that found a change; before any change, the first read. */
			lastChangeAt: orNull(noted),
			/** When an early read was asked for, because an answer was delivered. */
			earlyReadAskedAt: orNull(noted),
			/** Failed reads since the last successful one. */
			failures: integer,
			/** When a read first found the session over. One more read follows. */
			overSince: orNull(noted),
			/** Counts the requests for early reads: a read that began before the newest request does not cancel it. */
			earlyReadCount: integer,
			/** See `sessionReads`. */
			reads: orNull(json),
			/** When the service last saved it, as the newest list says; null: that does not name it. */
			listed: orNull(large),
		},
		indexes: { due: '(service, next_read_at) where next_read_at is not null' },
		kept: 'whileUsed',
	},

	/**
	 * One row for each time that an agent asks: in watched sessions, and where an answer of ours is to it. At most one of
	 * a session is open.
	 */
	questions: {
		key: ['id'],
		columns: {
			id: text,
			...QUESTION,
			/** Counts the session's questions in the order of asking. */
			number: integer,
			fingerprint: text,
			shownHash: text,
			/** What channels see of it, see `Asked`. Null after removal. Its index and its holder change. */
			content: orNull({ ...sealed, bound: OF_SESSION }),
			/** When the read began that found it; 0: it was answered before anybody watched its session. */
			askedAt: noted,
			settledAt: orNull(noted),
			settledHow: orNull(text),
			/** Our answer that settled it; null: it was given outside Handraise, or there is none. */
			answerId: orNull(text),
			/** See `Evidence`. */
			evidence: orNull(json),
			/** See `HandOver`; null: nobody has handed it over. */
			handOverId: orNull(text),
			/** Null too when the hand-over is over. */
			heldWatchId: orNull(text),
			heldTeamId: orNull(text),
			heldChannelId: orNull(text),
			fromUserId: orNull(personId),
			toUserId: orNull(personId),
			handOverCount: fromZero,
			handedOverAt: orNull(noted),
			/** The text of whoever handed it over, for its holder; null without one, and when the hand-over is over. */
			handOverNote: orNull({ ...sealed, bound: [...OF_SESSION, 'handOverId'] }),
			givenBackAt: orNull(noted),
		},
		unique: [['service', 'sessionId', 'number']],
		indexes: {
			one_open: 'unique (service, session_id) where settled_at is null',
			held: '(held_watch_id) where held_watch_id is not null',
			settled: '(settled_at) where settled_at is not null',
			from: '(from_user_id) where from_user_id is not null',
			to: '(to_user_id) where to_user_id is not null',
		},
		kept: WATCH_DAYS,
	},

	/** One row for each Slack message that has to stay true. */
	posts: {
		key: ['id'],
		columns: {
			id: text,
			...LEASE,
			/** `watch:<id>`, `channel:<team>:<channel>`, `person:<team>:<user>` or `person:<team>:<user>:<topic>`. */
			stream: { ...text, people: 'part' },
			/** Position in the stream: the order of first posts. */
			number: integer,
			uniqueKey: { ...text, people: 'part' },
			teamId: text,
			/** The channel's or person's. */
			placeId: personId,
			watchId: orNull(text),
			/** Null, like `sessionId` and `questionId`, for what is about no session. */
			service: orNull(text),
			sessionId: orNull(text),
			questionId: orNull(text),
			kind: text,
			/** See `KINDS`; no text of a person or an agent. */
			content: {
				...json,
				people: [
					'by',
					'from',
					'entries[].heldBy',
					'before.mention.userIds[]',
					'after.mention.userIds[]',
					'before.answerers.userIds[]',
					'after.answerers.userIds[]',
				],
			},
			/** `planned`, `shown`, `closed` (after its last look), `gone` (deleted), `refused`, `dropped` (not needed). */
			state: text,
			createdAt: noted,
			/**
			 * Longer than each retry delay, than the longest Retry-After of Slack that is honored, and than reminders wait
			 * for the next look. A card is held for up to an hour: after a start it is looked at early, and held again.
			 */
			dueAt: orNull(ahead(15 * MINUTE_MS, { decides: true })),
			/** 0: now, 1: progress, 2: no change waits (`NOT_MARKED`). */
			urgency: fromZero,
			/** Counts what changed after it was planned. */
			wanted: fromZero,
			attempts: fromZero,
			/** A post that may exist is searched for from then on, by Slack's clock. */
			sendingSince: orNull({ ...noted, becomesMs: -DAY_MS }),
			ts: orNull(text),
			shownKey: orNull(text),
			shownAt: orNull(noted),
			/** `held`, `awaited` or `unreadable`: it delays no other post of its stream. Null: later ones wait for it. */
			waitsAs: orNull(text),
			/**
			 * Of a question's post: since when its reminders count, and which there were. Null: the post has no
			 * reminders.
			 */
			remindSince: orNull(noted),
			remindedAt: orNull(noted),
			escalationCount: fromZero,
			lastReminderAt: orNull(noted),
			/** 1: Slack has refused its blocks, so it goes out as plain text. */
			isPlain: fromZero,
		},
		unique: [
			['stream', 'uniqueKey'],
			['stream', 'number'],
		],
		indexes: {
			due: '(due_at) where due_at is not null',
			planned: `(stream, number) where state = 'planned'`,
			done: `(created_at) where state not in ('planned', 'shown')`,
			session: '(service, session_id, state)',
			watch: '(watch_id)',
			ts: '(ts)',
			handed_over: `(team_id, created_at) where kind = 'handedOver'`,
			reminders: `(place_id) where kind = 'reminder' and state = 'shown' and session_id is null`,
			next: '(state, urgency, due_at, created_at) where due_at is not null',
			place: '(place_id, state)',
		},
		kept: WATCH_DAYS,
	},

	/** What was changed that people see, until `surfaces/mark-store.ts` has it drawn again wherever it stands. */
	marks: {
		key: ['id'],
		columns: {
			id: text,
			/** Null, like `sessionId`: Homes alone. */
			service: orNull(text),
			sessionId: orNull(text),
			/** See `MarkOptions`. */
			cards: orNull(text),
			dueAt: ahead(MINUTE_MS),
		},
		indexes: { due: '(due_at)', session: '(service, session_id)' },
		kept: 'whileUsed',
	},

	/** One row for each view that is drawn again by itself, and for each answer of which there is still to tell. */
	views: {
		key: ['id'],
		columns: {
			/** Slack's id of a window; `home:<team>:<user>`; `answer:<id>`, while no window shows the receipt. */
			id: { ...text, people: 'part' },
			/** See `ViewKind`. */
			kind: text,
			...PERSON_COLUMNS,
			...LEASE,
			/** Slack's id; null: Home, and what no window shows. */
			viewId: orNull(text),
			/** The question of a form, or of a receipt's answer. */
			service: orNull(text),
			sessionId: orNull(text),
			messageIndex: orNull(integer),
			fingerprint: orNull(text),
			shownHash: orNull(text),
			/** Of a receipt. */
			answerId: orNull(text),
			/** Of an inbox, counts from 0. */
			page: fromZero,
			/** Of a form: Slack's hash of what the window shows. */
			hash: orNull(text),
			/** Of a form: its view without a notice, with what was typed before. */
			view: orNull({ ...sealed, bound: OF_PERSON, isSecret: true, people: 'part' }),
			/** Of a form: what a read found, see `QuestionOutcome`. */
			learned: orNull(text),
			/** Of a receipt: the state and agent outcome that its window shows, or else a message; null: neither. */
			told: orNull(text),
			/** Of a form: since when its person is answering, and until when without further typing. */
			claimedAt: orNull(noted),
			claimUntil: orNull(ahead(2 * CLAIM_MS, { lasts: true })),
			/** How long changes make it due. */
			followedUntil: ahead(3 * DAY_MS, { lasts: true }),
			/** Of an inbox: since when its person waits for what it does not show yet; null: they do not. */
			askedAt: orNull(noted),
			/** Counts what changed. */
			wanted: fromZero,
			/** Calls that failed since the last that did not. */
			attempts: fromZero,
			/** It is not drawn before this, whatever changes. */
			notBefore: orNull(ahead(MINUTE_MS)),
			// The end of a snooze may be the next update.
			dueAt: orNull(ahead(LONGEST_SNOOZE_MS, { decides: true })),
			/** Identifies what it shows, to compare with; null: nobody knows. */
			shownKey: orNull(text),
			shownAt: orNull(noted),
		},
		indexes: {
			due: '(due_at) where due_at is not null',
			session: '(service, session_id)',
			one_receipt: 'unique (answer_id) where answer_id is not null',
			inboxes: `(followed_until) where kind in ('home', 'inbox')`,
		},
		kept: 'whileUsed',
	},

	channel_settings: {
		key: ['teamId', 'channelId'],
		columns: {
			...CHANNEL,
			settings: { ...json, people: ['mention.userIds[]', 'answerers.userIds[]'] },
			revision: integer,
			changedBy: personId,
			changedAt: noted,
		},
		kept: 'always',
	},

	/** The channels whose lists say who may answer a session, also after they stopped watching it, until it is over. */
	answer_rules: {
		key: ['teamId', 'channelId', ...OF_SESSION],
		columns: { ...CHANNEL, ...SESSION, enteredAt: noted },
		indexes: { session: '(service, session_id)' },
		kept: 'whileUsed',
	},

	/** A question hidden from a person's inbox for some time. */
	snoozes: {
		key: ['teamId', 'userId', 'service', 'sessionId'],
		columns: { ...PERSON_COLUMNS, ...SESSION, fingerprint: text, until: ahead(LONGEST_SNOOZE_MS) },
		kept: 'whileUsed',
	},

	waiting_sessions: {
		key: OF_SESSION,
		columns: {
			...SESSION,
			name: sealed,
			since: noted,
			/** When a read last found that it asks nothing, or it could not be read. */
			loweredAt: orNull(noted),
			/** How often in a row; 0: only once, after it had asked. */
			loweredCount: fromZero,
			/** 1: it began to wait or asked something else after the first list. */
			isNew: fromZero,
			/** Since when lists lack it; null: it is listed. */
			goneAt: orNull(noted),
		},
		kept: 'whileUsed',
	},

	discoveries: {
		key: ['teamId', 'channelId'],
		columns: {
			...CHANNEL,
			service: text,
			createdBy: personId,
			createdAt: noted,
		},
		kept: 'whileUsed',
	},

	/** People who acted or were named: a list of the workspace's people adds nobody. See `slack/directory.ts`. */
	people: {
		key: ['userId'],
		columns: {
			...PERSON_COLUMNS,
			/** What Slack told, and when; null: nothing that may be used. */
			facts: orNull({ ...sealed, bound: ['teamId'] }),
			/** Since when a Home waits for it. */
			wantedAt: orNull(noted),
			usedAt: noted,
		},
		indexes: { wanted: '(team_id, wanted_at) where wanted_at is not null', used: '(used_at)' },
		kept: WATCH_DAYS,
	},

	service_outages: { key: ['service'], columns: { service: text, downSince: noted }, kept: 'whileUsed' },

	shared_states: {
		key: ['name'],
		columns: {
			/**
			 * `budget:<address>` of the service, `list:<address>` (who lists), `memberships`, `people-list`, `rate:<key>`,
			 * or letters about a person (`person:ask:<id>`, `person:reply:<id>`).
			 */
			name: { ...text, people: 'part' },
			state: { ...json, people: ['{}'] },
			changedAt: noted,
		},
		kept: WATCH_DAYS,
	},
});
