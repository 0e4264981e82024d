// The roles and bindings that every server starts with.

export * from './authz/component-roles.js'
export * from './authz/default-roles.js'
