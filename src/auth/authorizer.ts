// Authorization: decisions, and the rules behind them.
export * from './authz/authorizer.js'
export { permitBy } from './authz/permit.js'
export { createRbacAuthorizer } from './authz/rbac.js'
export * from './authz/rule-resolver.js'
