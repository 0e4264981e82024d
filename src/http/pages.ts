// What is served outside of the API groups.

export * from './serve/health.js'
export * from './serve/openapi-pages.js'
export * from './serve/pages.js'
export * from './serve/paths.js'
