// The controllers that run beside the requests.

export * from './apiservices/api-services.js'
export * from './common/controller.js'
export * from './common/controller-runner.js'
export * from './common/leader-election.js'
export * from './gc/garbage-collector.js'
export * from './kept-objects/controller.js'
export * from './migration/storage-migration.js'
export * from './namespace/controller.js'
export * from './protection/protected-kinds.js'
export * from './rbac/cluster-role-aggregation.js'
export * from './service-accounts/controller.js'
export * from './service-accounts/root-ca.js'
