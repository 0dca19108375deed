# bird_compile_options: how every target of the project is compiled. Not exported.
add_library(bird_compile_options INTERFACE)

set(warnings -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor)
# Host and device must round alike: a * b + c is two roundings everywhere.
set(cxx_options ${warnings} -ffp-contract=off)
# nvcc hands the host half to g++, where -Wpedantic would trip over the line marks that nvcc writes.
set(cuda_options -fmad=false -Xcompiler=-Wall,-Wextra,-ffp-contract=off)
if(BIRD_WARNINGS_AS_ERRORS)
  list(APPEND cxx_options -Werror)
  list(APPEND cuda_options -Werror=all-warnings)
endif()
target_compile_options(bird_compile_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${cxx_options}>"
                                                      "$<$<COMPILE_LANGUAGE:CUDA>:${cuda_options}>")

if(BIRD_SANITIZE)
  set(sanitize -fsanitize=${BIRD_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # The instrumentation hides initialisations from GCC's flow analysis (std::regex is one case), so
    # this warning is wrong here; the other presets keep it.
    list(APPEND sanitize -Wno-maybe-uninitialized)
  endif()
  target_compile_options(bird_compile_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${sanitize}>")
  target_link_options(bird_compile_options INTERFACE -fsanitize=${BIRD_SANITIZE})
endif()
