// The roles and bindings that every server starts with.

export { roleGates } from './policy/gated-roles.js'
export * from './policy/policy.js'
export * from './policy/reconcile.js'
