// The roles and bindings that every server starts with.

export * from './policy/policy.js'
export * from './policy/reconcile.js'
