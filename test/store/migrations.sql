-- 29: initial
create table if not exists "migrations" ("number" integer primary key, "name" text not null, "applied_at" bigint not null);
create table if not exists "meta" ("name" text primary key, "value" text not null);
create table if not exists "answers" ("id" text primary key, "submission_key" text not null unique, "team_id" text not null, "user_id" text not null, "service" text not null, "session_id" text not null, "message_index" integer not null, "lease_token" text, "leased_until" bigint, "fingerprint" text not null, "content" text, "secrets" text, "other" text, "submission" text not null default '', "secret_positions" text, "state" text not null, "attempts" integer not null, "edit_count" integer not null default 0, "accepted_at" bigint not null, "give_up_at" bigint not null, "undo_until" bigint, "next_attempt_at" bigint, "put_started_at" bigint, "before_put" text, "delivered_at" bigint, "agent_outcome" text, "ended_at" bigint, "last_error" text, "timeline" text not null, "receipt_state" text not null, "not_before" bigint, "missing_count" integer not null default 0, "start_failed" integer not null default 0, "restart_asked_at" bigint, "dismissed_at" bigint);
create table if not exists "drafts" ("form_id" text primary key, "team_id" text not null, "user_id" text not null, "service" text not null, "session_id" text not null, "message_index" integer not null, "fingerprint" text not null, "content" text not null, "updated_at" bigint not null);
create table if not exists "watches" ("id" text primary key, "team_id" text not null, "channel_id" text not null, "service" text not null, "session_id" text not null, "mode" text not null, "questions_in_channel" integer not null, "discreet" integer not null default 0, "buttons" integer not null default 1, "created_by" text not null, "created_at" bigint not null, "revision" integer not null default 0, "last_change_at" bigint not null, "ended_reason" text, "ended_at" bigint);
create table if not exists "watched_sessions" ("service" text not null, "session_id" text not null, "lease_token" text, "leased_until" bigint, "rhythm" text not null, "digest" text, "view" text, "next_read_at" bigint, "read_by" bigint not null, "last_read_at" bigint, "last_change_at" bigint, "touched_at" bigint, "failures" integer not null, "over_since" bigint, "hurry" integer not null, primary key (service, session_id));
create table if not exists "questions" ("id" text primary key, "service" text not null, "session_id" text not null, "message_index" integer not null, "number" integer not null, "same_before" integer not null, "fingerprint" text not null, "shown_hash" text not null, "content" text, "reworded_count" integer not null default 0, "reworded_at" bigint, "asked_at" bigint not null, "settled_at" bigint, "settled_how" text, "answer_id" text, "hand_over_id" text, "held_watch_id" text, "held_team_id" text, "held_channel_id" text, "from_user_id" text, "to_user_id" text, "hand_over_count" integer not null default 0, "handed_over_at" bigint, "hand_over_note" text, "given_back_at" bigint, unique (service, session_id, number));
create table if not exists "posts" ("id" text primary key, "lease_token" text, "leased_until" bigint, "stream" text not null, "number" integer not null, "unique_key" text not null, "team_id" text not null, "place_id" text not null, "watch_id" text, "service" text, "session_id" text, "question_id" text, "kind" text not null, "content" text not null, "state" text not null, "created_at" bigint not null, "due_at" bigint, "urgency" integer not null default 0, "wanted" integer not null default 0, "attempts" integer not null default 0, "sending_since" bigint, "ts" text, "shown_key" text, "shown_at" bigint, "last_error" text, unique (stream, unique_key), unique (stream, number));
create table if not exists "channel_settings" ("team_id" text not null, "channel_id" text not null, "settings" text not null, "revision" integer not null, "changed_by" text not null, "changed_at" bigint not null, primary key (team_id, channel_id));
create table if not exists "snoozes" ("team_id" text not null, "user_id" text not null, "service" text not null, "session_id" text not null, "fingerprint" text not null, "until" bigint not null, primary key (team_id, user_id, service, session_id));
create table if not exists "waiting_sessions" ("service" text not null, "session_id" text not null, "name" text not null, "since" bigint not null, "lowered_at" bigint, "lowered_count" integer not null default 0, "is_new" integer not null default 0, "gone_at" bigint, primary key (service, session_id));
create table if not exists "discoveries" ("team_id" text not null, "channel_id" text not null, "service" text not null, "discreet" integer not null, "buttons" integer not null, "created_by" text not null, "created_at" bigint not null, primary key (team_id, channel_id));
create table if not exists "service_outages" ("service" text primary key, "down_since" bigint not null);
create table if not exists "shared_states" ("name" text primary key, "state" text not null, "changed_at" bigint not null);
create table if not exists "ladders" ("watch_id" text primary key, "team_id" text not null, "channel_id" text not null, "service" text not null, "session_id" text not null, "lease_token" text, "leased_until" bigint, "question_id" text not null, "post_ts" text not null, "posted_at" bigint not null, "reminded_at" bigint, "escalation_count" integer not null default 0, "is_sending" integer not null default 0, "last_reminder_at" bigint, "reminder_due_at" bigint, "held_by" text, "waiting_since" bigint, "few_since" bigint, "due_at" bigint, "change_count" integer not null default 0);
create table if not exists "windows" ("view_id" text primary key, "team_id" text not null, "user_id" text not null, "service" text not null, "session_id" text not null, "message_index" integer not null, "lease_token" text, "leased_until" bigint, "fingerprint" text not null, "shown_hash" text, "hash" text not null, "view" text not null, "learned" text, "notice" text not null default '', "touched_at" bigint not null, "due_at" bigint);
create table if not exists "claims" ("service" text not null, "session_id" text not null, "message_index" integer not null, "team_id" text not null, "user_id" text not null, "claimed_at" bigint not null, "until" bigint not null, primary key (service, session_id, message_index, team_id, user_id));
create table if not exists "inboxes" ("id" text primary key, "team_id" text not null, "user_id" text not null, "lease_token" text, "leased_until" bigint, "view_id" text, "page" integer not null, "opened_at" bigint not null, "asked_count" integer not null, "change_count" integer not null, "next_update_at" bigint, "shown_count" integer not null default 0, "shown_key" text, "built_at" bigint);
create unique index answers_one_live on answers (service, session_id, message_index)
		where state in ('accepted', 'delivering');
create unique index answers_one_lease on answers (service, session_id) where lease_token is not null;
create index answers_ended on answers (ended_at) where content is not null;
create index answers_undelivered on answers (accepted_at)
		where state in ('accepted', 'delivering', 'waiting');
create index answers_question on answers (service, session_id, message_index, accepted_at);
create index answers_state on answers (state);
create index answers_due on answers (service, next_attempt_at) where next_attempt_at is not null;
create index answers_secret on answers (id) where secrets is not null;
create index answers_person on answers (user_id, accepted_at);
create index drafts_question on drafts (service, session_id, message_index, team_id, user_id, updated_at);
create index drafts_updated on drafts (updated_at);
create index drafts_person on drafts (user_id, updated_at);
create unique index watches_one_live on watches (team_id, channel_id, service, session_id)
		where ended_at is null;
create index watches_session on watches (service, session_id) where ended_at is null;
create index watches_ended on watches (ended_at) where ended_at is not null;
create index watches_of_session on watches (service, session_id);
create index watched_sessions_due on watched_sessions (service, next_read_at) where next_read_at is not null;
create unique index questions_one_open on questions (service, session_id) where settled_at is null;
create index questions_held on questions (held_watch_id) where held_watch_id is not null;
create index questions_settled on questions (settled_at) where settled_at is not null;
create index questions_asked on questions (service, asked_at);
create index posts_due on posts (due_at) where due_at is not null;
create index posts_planned on posts (stream, number) where state = 'planned';
create index posts_done on posts (created_at) where state not in ('planned', 'shown');
create index posts_session on posts (service, session_id, state);
create index posts_watch on posts (watch_id);
create index posts_ts on posts (ts);
create index posts_handed_over on posts (team_id, created_at) where kind = 'handedOver';
create index posts_digests on posts (place_id) where kind = 'digest' and state = 'shown';
create index ladders_due on ladders (service, due_at) where due_at is not null;
create index ladders_session on ladders (service, session_id);
create index ladders_channel on ladders (team_id, channel_id);
create index windows_session on windows (service, session_id);
create index windows_due on windows (due_at) where due_at is not null;
create index claims_until on claims (until);
create index inboxes_due on inboxes (next_update_at) where next_update_at is not null;
insert into meta (name, value) values ('key_salt', $1);
-- 30: what reads have shown
alter table "answers" add column "question_id" text;
alter table "answers" add column "evidence" text;
alter table "answers" add column "missing_since" bigint;
alter table "questions" add column "evidence" text;
alter table "watched_sessions" add column "reads" text;
-- 31: what Slack told of people
create table if not exists "people" ("team_id" text not null, "user_id" text primary key, "facts" text, "wanted_at" bigint, "used_at" bigint not null);
create index people_wanted on people (team_id, wanted_at) where wanted_at is not null;
create index people_used on people (used_at);
-- 32: indexes for large tables
create index answers_arrived on answers (service, session_id) where state in ('delivered', 'resumed');
create index answers_authors on answers (ended_at) where user_id not like 'forgotten-%';
create index questions_from on questions (from_user_id) where from_user_id is not null;
create index questions_to on questions (to_user_id) where to_user_id is not null;
create index posts_next on posts (state, urgency, due_at, created_at) where due_at is not null;
create index posts_place on posts (place_id, state);
-- 33: who may answer
create table if not exists "answer_rules" ("team_id" text not null, "channel_id" text not null, "service" text not null, "session_id" text not null, "entered_at" bigint not null, primary key (team_id, channel_id, service, session_id));
create index answer_rules_session on answer_rules (service, session_id);
-- 34: the audit
create table if not exists "audit_events" ("number" bigint primary key, "transaction_id" bigint not null, "at" bigint not null, "action" text not null, "count" integer not null, "actor" text, "operator" text, "about" text, "session" text, "channel" text, "answer" text, "fingerprint" text, "outcome" text, "request" text);
create table if not exists "refusals" ("minute" bigint not null, "user_id" text not null, "action" text not null, "outcome" text not null, "count" integer not null, primary key (minute, user_id, action, outcome));
create index audit_events_committed on audit_events (transaction_id, number);
alter table audit_events alter column number add generated always as identity;
-- 35: 2.0.0
create table if not exists "marks" ("id" text primary key, "service" text, "session_id" text, "cards" text, "due_at" bigint not null);
create table if not exists "views" ("id" text primary key, "kind" text not null, "team_id" text not null, "user_id" text not null, "lease_token" text, "leased_until" bigint, "view_id" text, "service" text, "session_id" text, "message_index" integer, "fingerprint" text, "shown_hash" text, "answer_id" text, "page" integer not null default 0, "hash" text, "view" text, "learned" text, "told" text, "claimed_at" bigint, "claim_until" bigint, "followed_until" bigint not null, "asked_at" bigint, "wanted" integer not null default 0, "attempts" integer not null default 0, "not_before" bigint, "due_at" bigint, "shown_key" text, "shown_at" bigint);
create index watches_ended_in on watches (team_id, channel_id, ended_at) where ended_at is not null;
create index posts_reminders on posts (place_id) where kind = 'reminder' and state = 'shown' and session_id is null;
create index marks_due on marks (due_at);
create index marks_session on marks (service, session_id);
create index views_due on views (due_at) where due_at is not null;
create index views_session on views (service, session_id);
create unique index views_one_receipt on views (answer_id) where answer_id is not null;
create index views_inboxes on views (followed_until) where kind in ('home', 'inbox');
alter table "audit_events" add column "shown_hash" text;
alter table "posts" add column "remind_since" bigint;
alter table "posts" add column "reminded_at" bigint;
alter table "posts" add column "escalation_count" integer not null default 0;
alter table "posts" add column "last_reminder_at" bigint;
alter table "posts" add column "is_plain" integer not null default 0;
alter table "posts" rename "last_error" to "waits_as";
alter table "watched_sessions" add column "listed" bigint;
alter table "watched_sessions" rename "view" to "snapshot";
alter table "watched_sessions" rename "touched_at" to "early_read_asked_at";
alter table "watched_sessions" rename "hurry" to "early_read_count";
analyze answers, questions;
with found as (select answers.id as answer_id, questions.id,
				row_number() over (partition by answers.id order by number desc) as newest
			from answers join questions using (service, session_id, message_index, fingerprint)
			where question_id is null and state in ('accepted', 'delivering', 'waiting', 'delivered', 'resumed') and (delivered_at is null or asked_at <= delivered_at))
		update answers set question_id = found.id from found where found.answer_id = answers.id and newest = 1;
with every as (
			select service, session_id, message_index, fingerprint, min(id) as id, min(accepted_at) as accepted_at,
				cast(null as integer) as number
			from answers where question_id is null and state in ('accepted', 'delivering', 'waiting', 'delivered', 'resumed') group by service, session_id, message_index, fingerprint
			union all select service, session_id, message_index, fingerprint, null, null, number from questions),
		known as (select every.*,
				min(number) over (partition by service, session_id) as lowest,
				max(number) over (partition by service, session_id) as highest,
				first_value(case when number is not null then message_index end) over (partition by service, session_id
					order by case when number is null then 1 else 0 end, number desc) as newest
			from every),
		missing as (select known.*, case when newest >= message_index then 1 else 0 end as is_before
			from known where number is null)
		insert into questions (id, service, session_id, message_index, number, same_before, fingerprint, shown_hash,
			asked_at, settled_at, settled_how)
		select id, service, session_id, message_index,
			case when is_before = 1
				then lowest - row_number() over (partition by service, session_id, is_before
					order by message_index desc, accepted_at desc, id desc)
				else coalesce(highest, 0) + row_number() over (partition by service, session_id, is_before
					order by message_index, accepted_at, id) end,
			0, fingerprint, '', 0, accepted_at, 'unwatched' from missing;
with found as (select answers.id as answer_id, questions.id,
				row_number() over (partition by answers.id order by number desc) as newest
			from answers join questions using (service, session_id, message_index, fingerprint)
			where question_id is null and state in ('accepted', 'delivering', 'waiting', 'delivered', 'resumed') and (delivered_at is null or asked_at <= delivered_at))
		update answers set question_id = found.id from found where found.answer_id = answers.id and newest = 1;
select * from (
			select id, timeline, row_number() over (partition by service, session_id
				order by case when timeline not like '%"arrival"%' then 0 else 1 end, delivered_at, accepted_at, id) as number
			from answers where state in ('delivered', 'resumed')) as arrived
		where timeline not like '%"arrival"%';
select id, before_put from answers
		where before_put is not null and before_put not like '%"stepsSince"%';
update answers set state = 'resumed', agent_outcome = 'resumed',
			timeline = substr(timeline, 1, length(timeline) - 1)
				|| ',{"state":"resumed","at":' || coalesce(delivered_at, accepted_at) || '}]',
			receipt_state = replace(receipt_state, '"state":"delivered"', '"state":"resumed"')
		where state = 'delivered' and agent_outcome in ('taken', 'emptied')
			and evidence like '%"grew":true%';
update answers set agent_outcome = 'unseen'
		where agent_outcome in ('taken', 'emptied', 'unconfirmed', 'paused');
update answers set receipt_state = replace(receipt_state, '"agentOutcome":"taken"',
				'"agentOutcome":"' || case state when 'resumed' then 'resumed' else 'unseen' end || '"')
			where receipt_state like '%"agentOutcome":"taken"%';
update answers set receipt_state = replace(receipt_state, '"agentOutcome":"emptied"',
				'"agentOutcome":"' || case state when 'resumed' then 'resumed' else 'unseen' end || '"')
			where receipt_state like '%"agentOutcome":"emptied"%';
update answers set receipt_state = replace(receipt_state, '"agentOutcome":"unconfirmed"',
				'"agentOutcome":"' || case state when 'resumed' then 'resumed' else 'unseen' end || '"')
			where receipt_state like '%"agentOutcome":"unconfirmed"%';
update answers set receipt_state = replace(receipt_state, '"agentOutcome":"paused"',
				'"agentOutcome":"' || case state when 'resumed' then 'resumed' else 'unseen' end || '"')
			where receipt_state like '%"agentOutcome":"paused"%';
update answers set next_attempt_at = 0
		where state = 'delivered' and agent_outcome = 'unseen' and next_attempt_at is null
			and delivered_at > -86400000;
update answers set state = 'conflicted', ended_at = give_up_at, next_attempt_at = 0,
			last_error = case when last_error in ('first_over', 'first_unknown') then last_error else 'first_failed' end,
			receipt_state = replace(receipt_state, '"state":"waiting"', '"state":null')
		where state = 'waiting'
			and last_error in ('first_withdrawn', 'first_outdated', 'first_over', 'first_failed', 'first_unknown');
select id, settled_how, settled_at, answer_id, evidence from questions
			where id > $1 order by id limit 500;
select * from (
			select team_id, channel_id, discreet, buttons, questions_in_channel as in_channel, created_by, created_at
				from watches where ended_at is null
			union all select team_id, channel_id, discreet, buttons, 1, created_by, created_at from discoveries) as flagged
		where discreet = 1 or buttons = 0 or in_channel = 0 order by created_at;
update watches set mode = 'card' where mode in ('everything', 'questionsOnly');
update posts set waits_as = null where waits_as not in ('held', 'unreadable');
delete from posts where kind = 'question' and state = 'planned' and waits_as = 'held' and stream in (select stream from posts where kind = 'switching' and state = 'shown' and ts is not null);
update posts set waits_as = null, due_at = 0 where kind = 'question' and state = 'planned' and waits_as = 'held';
select posts.id, ts, watch_id, questions.id as question_id, settled_at
		from posts join questions using (service, session_id) where kind = 'switching' and state = 'shown' and ts is not null and questions.number =
			(select max(number) from questions as newest
				where newest.service = posts.service and newest.session_id = posts.session_id)
			and not exists (select 1 from posts as own
				where own.stream = posts.stream and own.unique_key = 'question:' || questions.id);
delete from posts where kind = 'switching';
update posts set remind_since = ladders.posted_at, reminded_at = ladders.reminded_at,
			escalation_count = ladders.escalation_count, last_reminder_at = ladders.last_reminder_at
		from ladders where posts.kind = 'question' and posts.watch_id = ladders.watch_id
			and posts.question_id = ladders.question_id;
update posts set kind = 'reminder',
				content = replace(content, '"kind":"escalation"', '"kind":"reminder"')
			where kind = 'escalation';
update posts set kind = 'reminder',
				content = replace(content, '"kind":"digest"', '"kind":"reminder"')
			where kind = 'digest';
select id, stream, content, sending_since from posts
		where kind = 'reminder' and state = 'planned' order by number;
insert into posts (id, stream, number, unique_key, team_id, place_id, watch_id, service, session_id, kind,
				content, state, created_at, due_at, waits_as)
			select stream, stream, (select coalesce(max(number), 0) + 1 from posts where posts.stream = held.stream),
				'reminder', team_id, channel_id, watch_id, service, session_id, 'reminder',
				'{"kind":"reminder","entries":[]}', 'planned', 0, 0, 'held'
			from (select distinct 'channel:' || team_id || ':' || channel_id as stream, team_id, channel_id,
		cast(null as text) as watch_id, cast(null as text) as service, cast(null as text) as session_id from ladders) as held where true
			on conflict (stream, unique_key) do nothing;
insert into posts (id, stream, number, unique_key, team_id, place_id, watch_id, service, session_id, kind,
				content, state, created_at, due_at, waits_as)
			select stream, stream, (select coalesce(max(number), 0) + 1 from posts where posts.stream = held.stream),
				'reminder', team_id, channel_id, watch_id, service, session_id, 'reminder',
				'{"kind":"reminder","entries":[]}', 'planned', 0, 0, 'held'
			from (select 'watch:' || watch_id as stream, ladders.team_id, ladders.channel_id, watch_id,
		ladders.service, ladders.session_id from ladders join watches on watches.id = watch_id where mode = 'card') as held where true
			on conflict (stream, unique_key) do nothing;
select id, team_id, user_id, service, session_id, question_id, receipt_state,
			accepted_at, state, agent_outcome
		from answers where receipt_state not like '%"dm":null%' or receipt_state like '%"dmSince":%';
insert into views (id, kind, team_id, user_id, service, session_id, message_index, answer_id,
			followed_until, not_before, due_at)
		select 'answer:' || id, 'receipt', team_id, user_id, service, session_id, message_index, id,
			0 + 172800000, 0, 0
		from answers where next_attempt_at is not null and user_id not like 'forgotten-%';
update answers set next_attempt_at = null where state not in ('accepted', 'delivering')
		and not (state = 'delivered' and coalesce(agent_outcome, 'unseen') = 'unseen');
select "name", "value" from "meta" where 1 = 1;
select id as "id", service as "service", session_id as "sessionId", team_id as "teamId", user_id as "userId", message_index as "messageIndex", fingerprint as "fingerprint", "content" as sealed
			from "answers" where "content" is not null and substr("content", 1, 2) = $1  order by "id" limit 500
			;
select id as "id", service as "service", session_id as "sessionId", team_id as "teamId", user_id as "userId", message_index as "messageIndex", fingerprint as "fingerprint", "secrets" as sealed
			from "answers" where "secrets" is not null and substr("secrets", 1, 2) = $1  order by "id" limit 500
			;
select id as "id", service as "service", session_id as "sessionId", team_id as "teamId", user_id as "userId", message_index as "messageIndex", fingerprint as "fingerprint", "other" as sealed
			from "answers" where "other" is not null and substr("other", 1, 2) = $1  order by "id" limit 500
			;
select form_id as "formId", service as "service", session_id as "sessionId", team_id as "teamId", user_id as "userId", "content" as sealed
			from "drafts" where "content" is not null and substr("content", 1, 2) = $1  order by "form_id" limit 500
			;
select service as "service", session_id as "sessionId", "snapshot" as sealed
			from "watched_sessions" where "snapshot" is not null and substr("snapshot", 1, 2) = $1  order by "service", "session_id" limit 500
			;
select id as "id", service as "service", session_id as "sessionId", "content" as sealed
			from "questions" where "content" is not null and substr("content", 1, 2) = $1  order by "id" limit 500
			;
select id as "id", service as "service", session_id as "sessionId", hand_over_id as "handOverId", "hand_over_note" as sealed
			from "questions" where "hand_over_note" is not null and substr("hand_over_note", 1, 2) = $1  order by "id" limit 500
			;
select id as "id", service as "service", session_id as "sessionId", team_id as "teamId", user_id as "userId", "view" as sealed
			from "views" where "view" is not null and substr("view", 1, 2) = $1  order by "id" limit 500
			;
select service as "service", session_id as "sessionId", "name" as sealed
			from "waiting_sessions" where "name" is not null and substr("name", 1, 2) = $1  order by "service", "session_id" limit 500
			;
select user_id as "userId", team_id as "teamId", "facts" as sealed
			from "people" where "facts" is not null and substr("facts", 1, 2) = $1  order by "user_id" limit 500
			;
select id as "id", service as "service", session_id as "sessionId", team_id as "teamId", user_id as "userId", message_index as "messageIndex", fingerprint as "fingerprint", "content" as sealed
			from "answers" where "content" is not null and submission not like '%"arrivalSeen"%'  order by "id" limit 500
			;
select form_id as "formId", service as "service", session_id as "sessionId", team_id as "teamId", user_id as "userId", "content" as sealed
			from "drafts" where "content" is not null and 1 = 1  order by "form_id" limit 500
			;
update answers set submission = substr(submission, 1, length(submission) - 1) || ',"arrivalSeen":null}'
		where submission not like '%"arrivalSeen"%';
alter table "answers" drop column "receipt_state";
alter table "answers" drop column "restart_asked_at";
alter table "answers" drop column "evidence";
alter table "discoveries" drop column "discreet";
alter table "discoveries" drop column "buttons";
drop index posts_digests;
drop index questions_asked;
alter table "questions" drop column "same_before";
alter table "questions" drop column "reworded_count";
alter table "questions" drop column "reworded_at";
alter table "watched_sessions" drop column "rhythm";
alter table "watches" drop column "questions_in_channel";
alter table "watches" drop column "discreet";
alter table "watches" drop column "buttons";
drop table "ladders";
drop table "windows";
drop table "claims";
drop table "inboxes";
