/* BIRD_API: what the shared library exports. All else is built with hidden visibility. */
#ifndef BIRD_API_H
#define BIRD_API_H

#if defined(__GNUC__)
#define BIRD_API __attribute__((visibility("default")))
#else
#define BIRD_API
#endif

#endif /* BIRD_API_H */
