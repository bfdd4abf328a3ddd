import { describeReminders } from './describe-reminders.ts';

describeReminders('PostgreSQL with two replicas', { replicas: 2, strikes: 1 });
