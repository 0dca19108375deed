# bird_compile_options: how every target of the project is compiled. Not exported.
add_library(bird_compile_options INTERFACE)
target_compile_options(
  bird_compile_options
  INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
            # Host and device must round alike: a * b + c is two roundings everywhere.
            -ffp-contract=off)
if(BIRD_WARNINGS_AS_ERRORS)
  target_compile_options(bird_compile_options INTERFACE -Werror)
endif()
if(BIRD_SANITIZE)
  target_compile_options(bird_compile_options INTERFACE -fsanitize=${BIRD_SANITIZE} -fno-omit-frame-pointer
                                                        -fno-sanitize-recover=all)
  target_link_options(bird_compile_options INTERFACE -fsanitize=${BIRD_SANITIZE})
endif()
