// The kinds that ops/ uses, for the schema that manifests.test.ts makes of them.
export type { Deployment } from 'kubernetes-types/apps/v1.d.ts';
export type { PersistentVolumeClaim, Pod, Service } from 'kubernetes-types/core/v1.d.ts';
export type { PodDisruptionBudget } from 'kubernetes-types/policy/v1.d.ts';
