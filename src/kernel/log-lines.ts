/** The warnings and errors of the log. Operators match on the name, so it never changes; see `ops/README.md`. */
export const LOG_LINES = {
	accept_reply_lost: 'lost the reply of the database while storing an answer',
	answer_damaged: 'a damaged answer cannot be read and is skipped',
	answer_work_failed: 'work on an answer failed; it is tried again',
	asking_unclear: 'an agent asks almost as docs/asking.md says, and may get another field: npm run ask shows why',
	bolt_failed: 'Bolt could not handle a request',
	channel_check_failed: 'channels could not be checked for other organisations; trying again',
	channel_settings_damaged: 'damaged settings cannot be read; the defaults hold, and posts tell the least',
	channel_settings_not_checked: 'the settings of a channel could not be checked',
	channel_settings_not_shown: 'the settings of a channel could not be shown',
	clock_set: 'the clock was set, or this machine slept',
	database_connection_lost: 'idle database connection lost',
	database_newer:
		'a newer Handraise has changed the database, so this process stops: start the newer version on all replicas',
	database_rekeyed:
		'npm run rekey encrypts the database with another key, so this process stops: start it with that key when the ' +
		'command has finished',
	delivery_failed: 'delivery attempt failed',
	discovery_cut: 'more sessions wait than are discovered',
	discovery_off: 'sessions are not discovered',
	encryption_key_mismatch:
		'Stored answers and drafts need an encryption key that is not given, so they cannot be read. Stop Handraise, ' +
		'restore the former ENCRYPTION_KEY (or DATA_DIR/encryption.key; keep a new one beside it), or name it in ' +
		'ENCRYPTION_KEY_FORMER for npm run rekey.',
	error_not_shown: 'could not show the error in the modal',
	hasten_failed: 'could not send waiting answers early; they are sent at their next attempt',
	home_not_filled: 'the Home tab could not be filled',
	inbox_channels_unknown: "Slack did not tell a person's channels for their inbox; asking again",
	lease_not_given_back: 'leases could not be given back; they lapse by themselves',
	lease_not_renewed: 'leases could not be renewed; trying again',
	list_failing: 'the session service’s list fails; watched sessions are read by the schedule',
	list_lost: 'the session service has no list that can be used; watched sessions are read by the schedule',
	list_works: 'the session service lists the sessions that wait; watched ones are read at once',
	listing_failed: 'could not list the sessions that wait; trying again',
	opening_not_recorded: 'the audit could not be told who saw a session',
	nobody_may_answer:
		'nobody whom the list of a channel names is there any more: npm run settings -- clear opens its questions',
	other_service_address:
		'watches, lists and answers in the database are for another SESSION_SERVICE_URL too, and are left alone there: ' +
		'if the service has moved, npm run migrate -- --service-moved brings them here',
	other_session: 'the session service sent another session than the one that was asked for: nothing of it is used',
	other_workspaces:
		'watches, posts and answers in the database are of another workspace and are left alone; if no other Handraise ' +
		'uses this database, SLACK_BOT_TOKEN is of the wrong workspace',
	passphrase_as_key: 'ENCRYPTION_KEY is a passphrase; 32 random bytes are safer: openssl rand -base64 32',
	person_request_failed: 'npm run person asked for something that failed',
	person_socket_unusable:
		'npm run person cannot reach this program: no socket can be made in DATA_DIR, or its path is long',
	post_delayed: 'a post could not be sent; it is tried again',
	post_refused: 'a post is refused; it is not tried again',
	press_not_shown: 'the post of a press could not be drawn at once',
	read_not_stored: 'what a read found could not be stored; the session is read again',
	read_not_noted: 'what a read outside the watch shows could not be stored; the next read of the session shows it',
	refusal_not_counted: 'a refusal could not be counted for the audit',
	removed_setting: 'this is no setting any more and can be removed; `instead` says what takes its place',
	reply_not_sent: 'a reply could not be sent',
	request_failed: 'a request failed',
	requests_refused: 'HTTP requests were refused',
	retention_failed: 'could not remove expired data; trying again in an hour',
	row_unreadable: 'what is damaged or written with another key cannot be read and is skipped',
	secret_file_unusable: 'the file gives nothing usable; its former content stays in use',
	service_back: 'the session service answers again',
	service_down: 'the session service does not answer',
	session_not_shown: 'could not show a session',
	slack_event_failed: 'an event failed',
	slack_library: 'a library of Slack reports a problem',
	slack_request_failed: 'a request from Slack could not be handled',
	slack_events_limited: 'Slack holds back events, because the workspace caused more than 30,000 in an hour',
	slack_token_refused:
		'Slack refuses SLACK_BOT_TOKEN: the app was uninstalled or its token revoked; nothing is sent to Slack until it ' +
		'takes the token, and answers go on to the session service',
	slack_unreachable: 'Slack cannot be reached yet; trying again',
	socket_not_opened: 'could not open a Socket Mode connection; trying again',
	stopped_unfinished: 'exiting before everything was finished; its leases expire by themselves',
	submission_not_stored: 'a submission could not be stored',
	take_failed: 'due rows could not be taken; trying again every second',
	unhandled_rejection: 'unhandled rejection',
	unknown_button: 'an unknown button was pressed',
	unknown_setting: 'Handraise has no setting with this name: check its spelling',
	update_refused: 'an update of a post is refused',
	watch_failed: 'a session could not be watched',
	view_not_shown:
		'Slack did not take an update of a window or of Home; it is tried again, unless it was refused four times',
	window_news_not_stored: 'could not note what open windows miss',
	window_not_stored: 'could not note an open window',
	wipe_failed: 'wiped secrets are still in the database files, which could not be written; retrying',
	wiped_secrets_in_log:
		'wiped secrets are still in the database files, because another program keeps the database open for reading; ' +
		'retrying',
	work_failed: 'work failed; it is tried again',
} as const;

export type LogEvent = keyof typeof LOG_LINES;
