// Authorization: decisions, and the rules behind them.

export { type AbacPolicy, parsePolicyFile } from './authz/abac.js'
export * from './authz/authorization-configuration.js'
export * from './authz/authorizer.js'
export * from './authz/authorizers.js'
export { permitBy } from './authz/permit.js'
export { createRbacAuthorizer } from './authz/rbac.js'
export * from './authz/rule-resolver.js'
