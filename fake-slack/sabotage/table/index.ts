import { DELIVERIES } from './deliveries.ts';
import { MESSAGES } from './messages.ts';
import { VALIDATION } from './validation.ts';
import { VIEWS } from './views.ts';
import { WEB_API } from './web-api.ts';

export const SABOTAGES = [...WEB_API, ...MESSAGES, ...VIEWS, ...DELIVERIES, ...VALIDATION];
