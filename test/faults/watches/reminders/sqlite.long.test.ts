import { describeReminders } from './describe-reminders.ts';

describeReminders('SQLite in one process', { replicas: 1, strikes: 1 });
