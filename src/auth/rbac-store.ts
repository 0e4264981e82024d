// The stored RBAC objects.
export * from './authz/stored-rbac.js'
